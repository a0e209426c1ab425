package exprtext

// Kind says what a syntax node is.
type Kind uint8

// The kinds of nodes.
const (
	Column  Kind = iota // Text: the name; Quoted
	Number              // Text: as written, with a leading - where there is one
	String              // Text: the value
	Bytes               // Text: the value
	Typed               // Word: timestamp, date, time or interval; Text: the value
	Null                // null
	True                // true
	False               // false
	Negate              // - Args[0]
	Not                 // not Args[0]
	Infix               // Args[0] Word Args[1]; Word: or and = <> < <= > >= + - * / % -> ->>
	IsNull              // Args[0] is [not] null
	In                  // Args[0] [not] in (Args[1:])
	Between             // Args[0] [not] between Args[1] and Args[2]
	Like                // Args[0] [not] like Args[1]
	Call                // Word(Args…); Word in lower case
	Cast                // cast(Args[0] as Text), also ::; Word: cast or try_cast
	Case                // case [Args[0]] when Args then Args … [else Args] end; Operand, Else
)

// Node is a node of the syntax tree.
type Node struct {
	Kind    Kind
	Word    string
	Text    string
	Args    []*Node
	Negated bool // not in, not like, not between, is not null
	Quoted  bool // a name in double quotes
	Operand bool // a case with an operand
	Else    bool // a case with an else
	Pos     int  // byte offset in the text
	depth   int
}

// Bounds on what a text may hold.
const (
	maxNesting = 400  // brackets and prefixes
	maxDepth   = 5000 // levels of the tree, also of a chain of operators
)
