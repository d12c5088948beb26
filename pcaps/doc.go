// Package pcaps is where packets come from: capture files and streams, read
// into blocks of records (the Source that package analysis declares).
package pcaps
