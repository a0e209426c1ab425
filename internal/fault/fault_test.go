package fault

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFaultSaysWhoWhatWhereAndHint(t *testing.T) {
	f := &Fault{Operator: "totals", Path: "window.size", At: "job.go:17", Problem: "size is 0s", Hint: "give a size > 0"}
	require.EqualError(t, f, `operator "totals": window.size: size is 0s; give a size > 0 (job.go:17)`)
	require.EqualError(t, &Fault{Problem: "no source"}, "no source")
}

func TestNearestNames(t *testing.T) {
	known := []string{"customer_id", "amount", "status", "ts"}
	require.Equal(t, []string{"customer_id"}, Nearest("customerid", known))
	require.Equal(t, []string{"amount"}, Nearest("ammount", known))
	require.Equal(t, []string{"status"}, Nearest("Sattus", known), "a swap is one step, and case does not count")
	require.Equal(t, []string{"customer_id"}, Nearest("customer", known))
	require.Empty(t, Nearest("price", known))
	require.EqualError(t, Unknown("column", "sattus", known), `no column "sattus"; did you mean "status"?`)
	require.EqualError(t, Unknown("column", "price", known), `no column "price"; there are "amount", "customer_id", "status", "ts"`)
	require.EqualError(t, Unknown("column", "price", nil), `no column "price"; there is no column at all`)
}

func TestPlaceFillsOnlyWhatIsOpen(t *testing.T) {
	var l List
	l.Add(&Fault{Problem: "a"})
	l.Add(&Fault{Operator: "own", At: "x:1", Problem: "b"})
	l.Add(errors.New("c"))
	l.Add(nil)
	require.Equal(t, 3, l.Len())
	err := Place(l.Err(), "op", "y:2")
	require.ErrorContains(t, err, `operator "op": a (y:2)`)
	require.ErrorContains(t, err, `operator "own": b (x:1)`)
	require.ErrorContains(t, err, `operator "op": c (y:2)`)
	require.NoError(t, Place(nil, "op", "y:2"))
	require.NoError(t, (&List{}).Err())
	require.Zero(t, (&List{}).Len())
}
