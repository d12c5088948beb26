package main

import (
	"errors"
	"strconv"
	"strings"
)

// parseConnections reads --connections: "" is the default (0), "all" is -1.
func parseConnections(s string) (int, error) {
	switch s {
	case "":
		return 0, nil
	case "all":
		return -1, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, exitf(exitUsage, "--connections %s: a number from 1, or all", s)
	}
	return n, nil
}

// parseSpeed reads a link speed in bit/s with an optional K, M, G or T; 0 is
// none.
func parseSpeed(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	digits, unit := s, int64(1)
	if i := strings.IndexByte("KMGT", s[len(s)-1]&^0x20); i >= 0 {
		digits = s[:len(s)-1]
		for range i + 1 {
			unit *= 1000
		}
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || v <= 0 || v*float64(unit) > 1e15 {
		return 0, errors.New("not a speed such as 25G or 100000000000")
	}
	return int64(v * float64(unit)), nil
}

// ordinal gives "2nd", "4th", "16th".
func ordinal(n int64) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.FormatInt(n, 10) + suffix
}
