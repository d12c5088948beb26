package live

import "golang.org/x/net/bpf"

// assembler writes a classic BPF program with labels. Conditional jumps of
// classic BPF reach 255 instructions, unconditional ones everything: so each
// condition is followed by a jump of its own.
type assembler struct {
	code   []bpf.Instruction
	places []int   // of each label, -1 not yet placed
	jumps  []fixup // to labels
}

type fixup struct{ at, label int }

func (a *assembler) label() int {
	a.places = append(a.places, -1)
	return len(a.places) - 1
}

func (a *assembler) place(label int) { a.places[label] = len(a.code) }

func (a *assembler) op(i ...bpf.Instruction) { a.code = append(a.code, i...) }

func (a *assembler) jump(label int) {
	a.jumps = append(a.jumps, fixup{len(a.code), label})
	a.op(bpf.Jump{})
}

// equal goes to label when the accumulator is v.
func (a *assembler) equal(v uint32, label int) {
	a.op(bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipFalse: 1})
	a.jump(label)
}

// notEqual goes to label when the accumulator isn't v.
func (a *assembler) notEqual(v uint32, label int) {
	a.op(bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipTrue: 1})
	a.jump(label)
}

// set goes to label when a bit of mask is set in the accumulator.
func (a *assembler) set(mask uint32, label int) {
	a.op(bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: mask, SkipFalse: 1})
	a.jump(label)
}

// below goes to label when the accumulator is less than v.
func (a *assembler) below(v uint32, label int) {
	a.op(bpf.JumpIf{Cond: bpf.JumpLessThan, Val: v, SkipFalse: 1})
	a.jump(label)
}

// load reads octets at X + off.
func (a *assembler) load(off uint32, size int) { a.op(bpf.LoadIndirect{Off: off, Size: size}) }

// advance adds n to X.
func (a *assembler) advance(n uint32) {
	a.op(bpf.TXA{}, bpf.ALUOpConstant{Op: bpf.ALUOpAdd, Val: n}, bpf.TAX{})
}

// advanceA adds the accumulator to X.
func (a *assembler) advanceA() { a.op(bpf.ALUOpX{Op: bpf.ALUOpAdd}, bpf.TAX{}) }

// finish sets the jumps.
func (a *assembler) finish() []bpf.Instruction {
	for _, f := range a.jumps {
		a.code[f.at] = bpf.Jump{Skip: uint32(a.places[f.label] - f.at - 1)}
	}
	return a.code
}
