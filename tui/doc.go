// Package tui is the browser over a running or finished analysis: what an
// engineer opens over ssh to find out what is wrong and what to do next.
//
// A page is a function of the snapshot and its own view state (cursor, sort
// order, filter). Keys change view state only; data arrives by one ticker
// that swaps the snapshot's pointer and redraws. So drawing needs no locks,
// pausing the display is keeping the old pointer, and a test draws a page by
// calling it on a simulated screen, without an event loop.
//
// tview gives the event loop and the virtual table that shows a million rows
// by asking for the forty visible ones; everything else is drawn through
// region, the only way for a text to reach the screen: it strips control
// bytes, so that nothing in a capture can steer the terminal. Pages name
// meanings (look), the theme turns them into colours; a glyph or a word
// always accompanies a colour.
//
// Between tview and the terminal stands the shadow screen, which sends only
// the cells that changed.
package tui
