package wire_test

import (
	"encoding/hex"
	"fmt"
	"log"

	"rdmascope/decode/wire"
)

func ExampleSummary() {
	frame, err := hex.DecodeString("e41d2dab2bc27cfe90643b32" + "0800" +
		"4500003012344000" + "40110000c0000211c0000242" + "c0de12b7001c0000" +
		"1140ffff0000011300001a05" + "2c000007" + "00000000")
	if err != nil {
		log.Fatal(err)
	}
	p := wire.Packet{Data: frame, Wire: uint32(len(frame)), Link: wire.LinkEthernet}
	wire.NewDecoder(wire.Config{SkipICRC: true}).Decode(&p)
	fmt.Println(wire.Summary(&p))
	// Output:
	// RC Acknowledge  QP 0x000113 PSN 6661 RNR NAK timer 0.64 ms MSN 7
}
