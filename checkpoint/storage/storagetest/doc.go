// Package storagetest answers: does a kind of bucket keep what storage promises?
//
// Its suite runs on any bucket of gocloud.dev; whoever wants to keep checkpoints on a store that is not listed tries it so:
//
//	func TestMyStore(t *testing.T) {
//		storagetest.Run(t, func(t *testing.T) *blob.Bucket { return openEmpty(t) })
//	}
//
// The suite never closes a bucket, and leaves its objects in it.
package storagetest
