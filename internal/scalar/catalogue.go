package scalar

// functions are all functions. Their names and results are a promise: docs/expressions.md has an example of each, which is a test.
var functions = []Function{
	{Name: "lower", Params: []Param{{Name: "text", Kind: Text}}, bind: bindCase(false)},
	{Name: "upper", Params: []Param{{Name: "text", Kind: Text}}, bind: bindCase(true)},
	{Name: "trim", Params: []Param{{Name: "text", Kind: Text}, {Name: "characters", Kind: Text, Const: true}}, Optional: 1, bind: bindTrim(true, true)},
	{Name: "ltrim", Params: []Param{{Name: "text", Kind: Text}, {Name: "characters", Kind: Text, Const: true}}, Optional: 1, bind: bindTrim(true, false)},
	{Name: "rtrim", Params: []Param{{Name: "text", Kind: Text}, {Name: "characters", Kind: Text, Const: true}}, Optional: 1, bind: bindTrim(false, true)},
	{Name: "length", Params: []Param{{Name: "text", Kind: TextOrBytes}}, bind: bindLength},
	{Name: "concat", Params: []Param{{Name: "text", Kind: Text}}, Repeats: true, bind: bindConcat},
	{Name: "substr", Params: []Param{{Name: "text", Kind: Text}, {Name: "from", Kind: Whole}, {Name: "length", Kind: Whole}}, Optional: 1, bind: bindSubstr},
	{Name: "contains", Params: []Param{{Name: "text", Kind: Text}, {Name: "part", Kind: Text}}, bind: bindContains},
	{Name: "starts_with", Params: []Param{{Name: "text", Kind: Text}, {Name: "part", Kind: Text}}, bind: bindStartsWith},
	{Name: "ends_with", Params: []Param{{Name: "text", Kind: Text}, {Name: "part", Kind: Text}}, bind: bindEndsWith},
	{Name: "replace", Params: []Param{{Name: "text", Kind: Text}, {Name: "part", Kind: Text}, {Name: "by", Kind: Text}}, bind: bindReplace},
	{Name: "split_part", Params: []Param{{Name: "text", Kind: Text}, {Name: "separator", Kind: Text}, {Name: "n", Kind: Whole}}, bind: bindSplitPart},
	{Name: "like", Params: []Param{{Name: "text", Kind: Text}, {Name: "pattern", Kind: Text}}, bind: bindLike},
}
