package codec_test

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/column"
)

func Example() {
	type order struct {
		ID     int64    `json:"id"`
		Amount *float64 `json:"amount"` // a pointer: may be missing
	}
	dec, err := codec.JSONOf[order]().NewDecoder(column.NewPool())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, rec := range []string{`{"id":1,"amount":2.5}`, `{"id":"two"}`, `{"id":3}`} {
		if err := dec.Append([]byte(rec)); err != nil {
			fmt.Println(err)
		}
	}
	batch := dec.Finish()
	defer batch.Release()
	fmt.Println(batch.Len(), "rows, ids", column.Values[int64](&batch.Cols[0]))
	// Output:
	// line 1: id: want int64, not a string: "two"
	// 2 rows, ids [1 3]
}

func ExampleJSON() {
	type order struct {
		ID   int64  `json:"id"`
		Note string `json:"note"`
	}
	in := codec.JSONOf[order]()
	dec, _ := in.NewDecoder(nil)
	_ = dec.Append([]byte(`{"note":"caf\u00e9","id":7,"more":[1,2]}`))
	batch := dec.Finish()
	enc, _ := codec.JSON(nil).NewEncoder(batch.Schema)
	text, _ := enc.Encode(nil, batch)
	fmt.Printf("%s%d unknown field\n", text, dec.Unknown())
	// Output:
	// {"id":7,"note":"café"}
	// 1 unknown field
}

func ExampleJSONFormat_FailUnknown() {
	type order struct {
		ID int64 `json:"id"`
	}
	dec, _ := codec.JSONOf[order]().FailUnknown().NewDecoder(nil)
	fmt.Println(dec.Append([]byte(`{"id":7,"idd":8}`)))
	// Output:
	// line 1: idd: no column for this field: {"id":7,"idd":8}
}

func ExampleInferJSON() {
	schema, err := codec.InferJSON([]byte(`{"id":1,"amount":2}`), []byte(`{"id":2,"amount":2.5,"note":null}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range schema.Fields() {
		fmt.Println(f.Name, codec.TypeName(f.Type))
	}
	// Output:
	// id int64
	// amount float64
	// note string
}

func ExampleParseType() {
	t, err := codec.ParseType("timestamp[ms,UTC]")
	fmt.Println(t, err)
	_, err = codec.ParseType("int46")
	fmt.Println(err)
	// Output:
	// timestamp[ms, tz=UTC] <nil>
	// no type "int46"; did you mean "int16", "int64"?
}

func ExampleCSV() {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "note", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	format := codec.CSV(schema).Delimiter(';')
	dec, err := format.NewDecoder(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := dec.Header([]byte("note;id")); err != nil {
		fmt.Println(err)
		return
	}
	_, err = dec.DecodeLines([]byte("\"two\nlines\";1\n;2\n"), true, codec.Limits{Rows: 100})
	rows := dec.Finish()
	defer rows.Release()
	fmt.Println(rows.Len(), rows.Column("note").String(0), rows.Column("note").IsNull(1), err)
	fmt.Println(dec.Append([]byte("x;seven")))
	// Output:
	// 2 two
	// lines true <nil>
	// line 1: id: want int64: seven
}
