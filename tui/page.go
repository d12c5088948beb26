package tui

import "github.com/rivo/tview"

// page is one screen. Its methods run on the drawing goroutine alone.
type page interface {
	crumb(u *ui) string  // its place in the breadcrumbs
	status(u *ui) string // beside the breadcrumbs: how much is shown, sorted by what
	sync(u *ui)          // follows the snapshot, before keys and drawing
	draw(u *ui, r region)
	key(u *ui, k key) bool // false: not mine
	hints(u *ui) []hint    // the most useful first
}

// What a page can do beyond that; the keys of the table ask for these.
type (
	// searcher moves its cursor to the next row with the text; dir is 1 or
	// -1, fromHere lets the current row match.
	searcher interface {
		search(u *ui, text string, dir int, fromHere bool) hit
	}
	// filterer has a filter of its own.
	filterer interface {
		filter() string
		checkFilter(u *ui, expr string) error
		setFilter(u *ui, expr string) error
		filterNames(u *ui) []Name
		cellTerm(u *ui) string // selects what is like the cell under the cursor
	}
	// copier offers texts to copy.
	copier interface {
		copies(u *ui) []choice
	}
	// exporter gives its table as it is shown.
	exporter interface {
		export(u *ui) *sheet
	}
	// saver names packets worth saving, what one most likely wants first.
	saver interface {
		packetsToSave(u *ui) []packetChoice
	}
	// sortable has columns.
	sortable interface {
		sortKey(u *ui, k key) bool
		columnChoices(u *ui) []choice
	}
	// marker can come back to a place.
	marker interface {
		place() string
		gotoPlace(u *ui, place string) bool
	}
	// jumper takes the number of a row or a packet.
	jumper interface {
		jump(u *ui, n int64) bool
	}
	// forgetter lets the snapshot go that it was shown with; the cursor stays.
	forgetter interface{ forget() }
	// mouser takes clicks; x and y are on the screen.
	mouser interface {
		mouse(u *ui, action tview.MouseAction, x, y int) bool
	}
)

// choice is an entry of a menu.
type choice struct {
	label string
	value string // shown beside it
	do    func(u *ui)
	on    bool // ticked
}
