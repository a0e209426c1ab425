package nexmark

import (
	"bytes"
	"fmt"
	"math/bits"
	"strconv"
)

var (
	firstNames = []string{"Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter"}
	lastNames  = []string{"Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris"}
	cities     = []string{"Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland", "Bend", "Redmond", "Seattle", "Kent", "Cheyenne"}
	states     = []string{"AZ", "CA", "ID", "OR", "WA", "WY"}
	hotNames   = []string{"Google", "Facebook", "Baidu", "Apple"}
)

// extraBytes is how many random characters there are, of which each extra is a part.
const extraBytes = 1 << 16

// channel is where a bid came from.
type channel struct{ name, url string }

// texts is what is made once for all events.
type texts struct {
	extra []byte
	hot   []channel
	rest  []channel
}

func newTexts() *texts {
	t := &texts{extra: make([]byte, extraBytes)}
	r := random(1)
	for i := range t.extra {
		t.extra[i] = r.letter(' ')
	}
	for _, name := range hotNames {
		t.hot = append(t.hot, channel{name, r.url()})
	}
	for i := range channels {
		c := channel{fmt.Sprintf("channel-%d", i), r.url()}
		if r.below(10) > 0 {
			id := int64(int32(bits.Reverse32(uint32(i))))
			c.url += "&channel_id=" + strconv.FormatInt(max(id, -id), 10)
		}
		t.rest = append(t.rest, c)
	}
	return t
}

func (r *random) letter(special byte) byte {
	if r.below(13) == 0 {
		return special
	}
	return byte('a' + r.below(26))
}

// word appends 3 to most-1 letters, some of them special, without blanks at the ends.
func (r *random) word(to []byte, most int64, special byte) []byte {
	at := len(to)
	for range 3 + r.below(most-3) {
		to = append(to, r.letter(special))
	}
	return append(to[:at], bytes.TrimSpace(to[at:])...)
}

func (r *random) url() string {
	b := []byte("https://www.nexmark.com/")
	for range 3 {
		b = append(r.word(b, 5, '_'), '/')
	}
	return string(append(b, "item.htm?query=1"...))
}

func (r *random) oneOf(list []string) string { return list[r.below(int64(len(list)))] }

// creditCard appends four groups of four digits.
func (r *random) creditCard(to []byte) []byte {
	for i := range 4 {
		if i > 0 {
			to = append(to, ' ')
		}
		n := r.below(10_000)
		to = append(to, byte('0'+n/1000), byte('0'+n/100%10), byte('0'+n/10%10), byte('0'+n%10))
	}
	return to
}

// pad appends what fills a row of so many bytes up to about as many as wanted.
func (t *texts) pad(to []byte, r *random, bytes, wanted int) []byte {
	if bytes > wanted {
		return to
	}
	missing := wanted - bytes
	delta := (missing + 2) / 5 // a fifth, rounded
	n := int64(missing - delta)
	if delta > 0 {
		n += r.below(int64(2 * delta))
	}
	at := r.below(extraBytes - n)
	return append(to, t.extra[at:at+n]...)
}
