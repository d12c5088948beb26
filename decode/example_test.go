package decode_test

import (
	"encoding/hex"
	"fmt"
	"log"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"rdmascope/decode"
	"rdmascope/decode/roce"
)

// A program that uses gopacket gets all RDMA headers as layers after one call.
func ExampleRegister() {
	decode.Register()
	frame, err := hex.DecodeString("e41d2dab2bc27cfe90643b32" + "0800" + // Ethernet
		"4568004412344000" + "4011a3b9c0000211c0000242" + // IPv4
		"c0de12b700300000" + // UDP to port 4791
		"0a40ffff0000012380000300" + // BTH
		"00007f3a10002000001a2b3c00000008" + // RETH
		"1011121314151617" + "5e80ece2") // payload, iCRC
	if err != nil {
		log.Fatal(err)
	}
	packet := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.Default)
	for _, layer := range packet.Layers() {
		fmt.Println(layer.LayerType())
	}
	bth := packet.Layer(roce.LayerTypeBTH).(*roce.BTH)
	fmt.Println(bth.Opcode, "to QP", bth.DestQP)
	icrc := packet.Layer(roce.LayerTypeICRC).(*roce.ICRC)
	fmt.Println("iCRC", icrc.State)
	// Output:
	// Ethernet
	// IPv4
	// UDP
	// BTH
	// RETH
	// Payload
	// ICRC
	// RC RDMA Write Only to QP 291
	// iCRC ok
}
