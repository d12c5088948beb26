package tui

import (
	"strings"

	"rdmascope/decode/wire"
)

// treeRow is a visible line of the decode tree.
type treeRow struct {
	node  *wire.Node
	depth int
	path  string // names from the root, for folding
	open  bool
}

// treeRows are the lines of an unfolded tree, in order.
type treeRows []treeRow

func (l treeRows) Len() int         { return len(l) }
func (l treeRows) At(i int) treeRow { return l[i] }
func (l treeRows) ID(i int) string  { return l[i].path }

// foldedAtFirst are the layers that are rarely what one looks for.
var foldedAtFirst = map[string]bool{"frame": true, "eth": true, "ip": true, "ipv6": true, "udp": true, "vlan": true, "sll": true, "grh": true}

// unfold lists the lines of a tree; folds has what the user turned.
func unfold(tree []wire.Node, folds map[string]bool) treeRows {
	var out treeRows
	var walk func(list []wire.Node, depth int, path string)
	walk = func(list []wire.Node, depth int, path string) {
		for i := range list {
			n := &list[i]
			name := path + "/" + n.Name
			if n.Name == "" {
				name += n.Label
			}
			open := !foldedAtFirst[n.Name]
			if folds[name] {
				open = !open
			}
			out = append(out, treeRow{n, depth, name, open})
			if open {
				walk(n.Children, depth+1, name)
			}
		}
	}
	walk(tree, 0, "")
	return out
}

func treeColumns() []column[treeRow] {
	return []column[treeRow]{
		{title: "FIELD", width: 32, grow: 8, text: func(r treeRow) string {
			mark := "  "
			if len(r.node.Children) > 0 {
				mark = "▸ "
				if r.open {
					mark = "▾ "
				}
			}
			name := r.node.Name
			if r.depth == 0 || name == "" {
				name = r.node.Label
			}
			return strings.Repeat("  ", r.depth) + mark + name
		}, look: treeLook, term: treeTerm},
		{title: "VALUE", width: 20, grow: 300, prose: true, text: func(r treeRow) string {
			if r.depth > 0 && r.node.Label != "" && r.node.Name != "" {
				return r.node.Value + "   " + r.node.Label
			}
			return r.node.Value
		}, term: treeTerm},
	}
}

func treeLook(r treeRow) look {
	if r.depth == 0 {
		return heading
	}
	return plain
}

// treeTerm is the filter that selects packets with the same value.
func treeTerm(r treeRow) string {
	n := r.node
	if n.Name == "" || len(n.Children) > 0 && !n.Numeric {
		return n.Name
	}
	v := n.Value
	if n.Numeric {
		v = numberText(n)
	}
	if strings.ContainsAny(v, " …") {
		return n.Name
	}
	return n.Name + " == " + v
}

func numberText(n *wire.Node) string {
	if f := strings.Fields(n.Value); len(f) > 0 && strings.HasPrefix(f[0], "0x") {
		return f[0]
	}
	return uintText(n.Raw)
}
