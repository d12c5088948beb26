package cm

import (
	"errors"
	"sort"

	"rdmascope/decode/roce"
)

// MADCount is how many MADs of an attribute went to queue pair 1.
type MADCount struct {
	Class     roce.MgmtClass
	Attribute roce.AttributeID
	Count     int64
}

// Name names the attribute as in the specification where it is one of
// connection management, else "".
func (c MADCount) Name() string {
	if c.Class != roce.MgmtClassCommMgt {
		return ""
	}
	return c.Attribute.CMName()
}

// madCounts counts by class and attribute. CM's are an array; what else goes to
// queue pair 1 is kept for the first maxAttributes, then under attribute
// 0xffff of its class, of which there are 256.
type madCounts struct {
	cm    [KindCount]int64
	other map[madKey]int64
}

type madKey struct {
	class     roce.MgmtClass
	attribute roce.AttributeID
}

const (
	maxAttributes  = 256
	otherAttribute = 0xffff
)

func (m *madCounts) add(class roce.MgmtClass, attribute roce.AttributeID, n int64) {
	if class == roce.MgmtClassCommMgt && attribute.CMName() != "" {
		m.cm[attribute-roce.AttributeREQ] += n
		return
	}
	if m.other == nil {
		m.other = make(map[madKey]int64)
	}
	k := madKey{class, attribute}
	if _, ok := m.other[k]; !ok && len(m.other) >= maxAttributes {
		k.attribute = otherAttribute
	}
	m.other[k] += n
}

func (m *madCounts) list() []MADCount {
	var l []MADCount
	for k, n := range m.cm {
		if n > 0 {
			l = append(l, MADCount{roce.MgmtClassCommMgt, roce.AttributeREQ + roce.AttributeID(k), n})
		}
	}
	for k, n := range m.other {
		l = append(l, MADCount{k.class, k.attribute, n})
	}
	sort.Slice(l, func(i, j int) bool {
		if l[i].Class != l[j].Class {
			return l[i].Class < l[j].Class
		}
		return l[i].Attribute < l[j].Attribute
	})
	return l
}

// Faults counts MADs that could not be read to their end, by why.
type Faults struct {
	Cut       int64 // by the capture; used as far as it goes
	Malformed int64
	Unknown   int64 // version or attribute
}

func (f *Faults) book(err error) {
	switch {
	case errors.Is(err, roce.ErrTruncated):
		f.Cut++
	case errors.Is(err, roce.ErrMalformed):
		f.Malformed++
	default:
		f.Unknown++
	}
}

func (f *Faults) add(g Faults) {
	f.Cut += g.Cut
	f.Malformed += g.Malformed
	f.Unknown += g.Unknown
}
