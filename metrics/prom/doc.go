// Package prom answers: how do the numbers of jobs get into Prometheus?
//
// A [Collector] is told of every job that a runtime starts and gives the numbers of their Status when it is scraped; a row costs
// nothing for it. Register it where the program registers its other collectors:
//
//	c := prom.New()
//	prometheus.MustRegister(c)
//	rt := arkflow.Runtime{Metrics: c}
//
// The package never registers anything itself, and only a program that imports it links the Prometheus client.
package prom
