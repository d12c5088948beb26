package cm

import (
	"bytes"

	"rdmascope/decode/roce"
)

// magicRPC is the magic number of RPC-over-RDMA private data (RFC 8797 §5.1),
// which may stand at any offset.
var magicRPC = []byte{0xf6, 0xab, 0x0e, 0x18}

// ulpOf guesses the upper layer protocol from a service ID and the consumer's
// private data: the well-known ports of NVMe-oF (4420, discovery 8009), iSER
// (3260), NFS over RDMA (20049, RFC 8166) and SMB Direct (445, MS-SMBD 1.9).
func ulpOf(id roce.ServiceID, private []byte) string {
	if space, port, ok := id.Port(); ok && space == roce.PortSpaceTCP {
		switch port {
		case 4420, 8009:
			return "nvme"
		case 3260:
			return "iser"
		case 20049:
			return "nfs"
		case 445:
			return "smbdirect"
		}
	}
	if bytes.Contains(private, magicRPC) {
		return "nfs"
	}
	return ""
}

// trimZeros returns a copy of b without trailing zeros. A MAD bounds it.
func trimZeros(b []byte) []byte { return bytes.Clone(bytes.TrimRight(b, "\x00")) }
