package rc

// match is a pairing that stands although none of its proofs is complete.
type match struct {
	f, g       *flow
	method     Method
	confidence Confidence
}

// matchGroup pairs the unpaired flows of two hosts. A pair counts when it is in
// every largest matching; where a flow could have another partner in one as
// large, it is left alone (ambiguous).
func matchGroup(grp *group, limit int) (found []match) {
	left := unpaired(grp.open[0], nil, limit)
	right := unpaired(grp.open[1], nil, limit)
	if len(right) == 0 { // a host that talks to itself
		right = left
	}
	edges := make([][]int, len(left))
	for i, f := range left {
		edges[i] = partners(f, left, right)
	}
	mate, size := largest(edges, len(right), -1, -1)
	for i, j := range mate {
		if j < 0 || left[i] == right[j] {
			continue
		}
		if _, n := largest(edges, len(right), i, j); n == size {
			continue // without it a matching is as large: another partner would do
		}
		f, g := left[i], right[j]
		found = append(found, match{f, g, methodOf(f, g), Likely})
	}
	return found
}

func methodOf(f, g *flow) Method {
	if portFits(f, g) {
		return MethodSport
	}
	return MethodPSN
}

// partners returns the possible partners of f: by the computed port if there
// are such, else by PSN, of these the one with the same port if it alone has.
func partners(f *flow, left, right []*flow) (v []int) {
	for j, g := range right {
		if g != f && portFits(f, g) {
			v = append(v, j)
		}
	}
	if len(v) > 0 {
		return v
	}
	for j, g := range right {
		if n, against := score(f, g); g != f && n > 0 && against*16 <= n {
			v = append(v, j)
		}
	}
	for _, j := range v {
		if samePort(f, right[j]) && portsOf(right, f.port) == 1 && portsOf(left, f.port) == 1 {
			return []int{j}
		}
	}
	return v
}

func portsOf(v []*flow, port uint16) (n int) {
	for _, f := range v {
		if f.port == port || f.is(flowManyPorts) {
			n++
		}
	}
	return n
}

// largest returns a largest matching of the bipartite graph, without the edge
// (i, j): Kuhn's augmenting paths.
func largest(edges [][]int, right, noI, noJ int) (mate []int, size int) {
	mate = make([]int, len(edges))
	owner := make([]int, right)
	for i := range mate {
		mate[i] = -1
	}
	for j := range owner {
		owner[j] = -1
	}
	var seen []bool
	var try func(i int) bool
	try = func(i int) bool {
		for _, j := range edges[i] {
			if i == noI && j == noJ || seen[j] {
				continue
			}
			seen[j] = true
			if owner[j] < 0 || try(owner[j]) {
				owner[j], mate[i] = i, j
				return true
			}
		}
		return false
	}
	for i := range edges {
		seen = make([]bool, right)
		if try(i) {
			size++
		}
	}
	return mate, size
}
