//go:build unix

package serve

import (
	"net/http"
	"strconv"
	"testing"
)

// BenchmarkAnswers is the processor time of the server for what an open page of a run asks: the news of an epoch, and the page anew.
func BenchmarkAnswers(b *testing.B) {
	for name, path := range map[string]string{"news": "/news?after=", "page": "", "curves": "/figures/all.json"} {
		b.Run("of="+name, func(b *testing.B) {
			dir, claim := bigLab(b)
			s := startTest(b, Options{Lab: dir})
			spent, epoch := 0.0, int64(200)
			for b.Loop() {
				epoch++
				if err := claim.AppendEpoch(epoch, epochRows(epoch)); err != nil {
					b.Fatal(err)
				}
				after := ""
				if name == "news" {
					after = strconv.FormatInt(epoch-1, 10)
				}
				before := ownTime()
				request, err := http.NewRequest(http.MethodGet, s.URL()+"run/"+claim.Hash+path+after, nil)
				if err != nil {
					b.Fatal(err)
				}
				request.Header.Set("Collapse-Drawn", "measures")
				answer, err := http.DefaultClient.Do(request)
				if err != nil {
					b.Fatal(err)
				}
				if answer.Body.Close(); answer.StatusCode != http.StatusOK {
					b.Fatal(strconv.Itoa(answer.StatusCode))
				}
				spent += ownTime() - before
			}
			b.ReportMetric(spent/float64(b.N)*1e3, "server-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}
