#include "textflag.h"

// func lines(at *uintptr, n int)
TEXT ·lines(SB), NOSPLIT, $0-16
	MOVQ at+0(FP), AX
	MOVQ n+8(FP), CX
	TESTQ CX, CX
	JLE  done
loop:
	MOVQ (AX), BX
	PREFETCHT0 (BX)
	ADDQ $8, AX
	DECQ CX
	JNZ  loop
done:
	RET
