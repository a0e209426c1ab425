package kernel

import "github.com/apache/arrow-go/v18/arrow"

// Layout says how the row of a group is laid out.
type Layout struct{}

// NewLayout gives the layout for keys and aggregates over a schema.
func NewLayout(s *arrow.Schema, keys []int, aggs []Agg) (*Layout, error) { return &Layout{}, nil }
