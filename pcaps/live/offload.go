package live

import "strings"

// offloadLine says what is on, and how it is turned off.
func offloadLine(name string, on []string) string {
	effects := map[string]string{
		"gro":    "merges segments into frames that never were on the wire",
		"lro":    "merges segments into frames that never were on the wire",
		"rxvlan": "leaves VLAN tags to the driver's word",
	}
	var said []string
	for _, o := range on {
		text := o + " " + effects[o]
		if o == "lro" && len(said) > 0 {
			said[len(said)-1] = "gro and lro merge segments into frames that never were on the wire"
			continue
		}
		said = append(said, text)
	}
	return name + ": " + strings.Join(said, "; ") + "; to turn off: ethtool -K " + name + " " + strings.Join(on, " off ") + " off"
}
