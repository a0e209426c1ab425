// Package arkflowtest answers: does my job do what it should, however its rows come?
//
// [Run] runs any job in memory: the sources that [From] names read scripted splits, every sink collects what it is given, the clock goes on only
// when told to, and the test fails at once, with the state of every task, when nothing can move any more. A complete test of a job:
//
//	type Order struct {
//		Customer string    `arkflow:"customer"`
//		At       time.Time `arkflow:"ts"`
//		Amount   float64   `arkflow:"amount"`
//	}
//
//	func TestOrdersPerMinute(t *testing.T) {
//		at := func(s int) time.Time { return time.Unix(int64(s), 0) }
//		arkflowtest.Verify(t, OrdersPerMinute(), // the job as the program builds it
//			arkflowtest.From("orders",
//				arkflowtest.Rows(Order{"ada", at(5), 10}, Order{"bob", at(70), 1}),
//				arkflowtest.Rows(Order{"ada", at(59), 2.5}, Order{"ada", at(61), 4})),
//			arkflowtest.Want("out",
//				PerMinute{"ada", at(0), 2, 12.5}, PerMinute{"bob", at(60), 1, 1}, PerMinute{"ada", at(60), 1, 4}),
//			arkflowtest.Counts("per-minute", "out", "orders"))
//	}
//
// [Verify] runs the job in all the ways that must not matter: batches of any size, any number of tasks, splits polled in any order, an epoch and
// a restore after every row. [Try] gives errors in place of failing a test, for jobs that are to fail ([FailWrite] and its like). [Start] lets a
// test drive a job step by step. Scripts have watermarks ([WatermarkAt]), silence ([Sync], [Advance]), ends and openness ([Open]).
//
// Every run uses a memory pool that poisons what is given back and fails where a batch is not, and checks that each row is accounted for.
//
// [Crash] is about the job as it is, with its own sources and sinks over real files: it runs in processes of their own that are killed again and
// again, and what the sinks hold in the end is what an uninterrupted run writes.
//
// Everything but Crash works inside testing/synctest too; there [SystemClock] is the natural clock. The package never uses the network, touches no
// file but in Crash, and starts no goroutine of its own; those of the job have ended when Run returns.
package arkflowtest
