package analysis

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func marshalled(t *testing.T, v any) string {
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

func TestTimeJSON(t *testing.T) {
	for ns, want := range map[Time]string{
		0:                         `null`,
		1:                         `"1970-01-01T00:00:00.000000001Z"`,
		1_772_619_302_113_000_000: `"2026-03-04T10:15:02.113000000Z"`,
		-1:                        `"1969-12-31T23:59:59.999999999Z"`,
		math.MaxInt64:             `"2262-04-11T23:47:16.854775807Z"`,
	} {
		require.Equal(t, want, marshalled(t, ns))
		back := Time(42)
		require.NoError(t, json.Unmarshal([]byte(want), &back))
		require.Equal(t, ns, back)
	}
	var x Time
	require.Error(t, json.Unmarshal([]byte(`17`), &x))
	require.Error(t, json.Unmarshal([]byte(`"yesterday"`), &x))
	assert.Equal(t, "", Time(0).String())
}

func TestTextJSON(t *testing.T) {
	assert.Equal(t, `null`, marshalled(t, Text("")))
	assert.Equal(t, `"nvme"`, marshalled(t, Text("nvme")))
}

func TestDecimalJSON(t *testing.T) {
	for v, want := range map[Decimal]string{
		0: "0", 1: "1", 0.1: "0.1", 0.30000000000000004: "0.3", 1e-12: "0", -1e-12: "0", 0.123456789: "0.123456789",
		1e15: "1000000000000000", -0.5: "-0.5", 100: "100", Decimal(math.Inf(1)): "null", Decimal(math.NaN()): "null",
	} {
		assert.Equal(t, want, marshalled(t, v))
	}
	assert.Nil(t, Quotient(1, 0), "nothing to divide by is unknown, not 0")
	assert.Equal(t, Decimal(0.25), *Quotient(1, 4))
	assert.Equal(t, Decimal(0), *Quotient(0, 4))
}

func TestListsAndMapsAreNeverNull(t *testing.T) {
	assert.Equal(t, `[]`, marshalled(t, List[string](nil)))
	assert.Equal(t, `["b","a"]`, marshalled(t, List[string]{"b", "a"}))
	assert.Equal(t, `{}`, marshalled(t, Counts(nil)))
	assert.Equal(t, `{"a":1,"b":2}`, marshalled(t, Counts{"b": 2, "a": 1}))
	assert.Equal(t, `{"L":{"r":1}}`, marshalled(t, Map[Counts]{"L": {"r": 1}}))
	assert.Equal(t, `{}`, marshalled(t, ByNumber(nil)))
	assert.Equal(t, `{"8":1,"46":2,"100":3}`, marshalled(t, ByNumber{100: 3, 8: 1, 46: 2}), "numeric order")
}

func TestPriorityJSON(t *testing.T) {
	for p, want := range map[Priority]string{0: "0", 7: "7", PriorityAll: `"all"`} {
		require.Equal(t, want, marshalled(t, p))
		back := Priority(3)
		require.NoError(t, json.Unmarshal([]byte(want), &back))
		require.Equal(t, p, back)
	}
	for _, wrong := range []string{`8`, `-1`, `"some"`, `null`, `1.5`} {
		p := Priority(3)
		assert.Error(t, json.Unmarshal([]byte(wrong), &p), wrong)
	}
}

func TestSeverityRank(t *testing.T) {
	order := []Severity{"nonsense", SeverityOK, SeverityNotice, SeverityWarning, SeverityCritical}
	for i := 1; i < len(order); i++ {
		assert.Less(t, order[i-1].Rank(), order[i].Rank())
	}
}
