package synth
import ("testing";"io";"time";"fmt")
func TestZZ(t *testing.T){ for _,s:=range []BenchSpec{{Connections:100000},{Heavy:0.9},{Connections:1000000},{SnapLen:-1,Packets:500000}} { a:=time.Now(); WriteBench(io.Discard,s); fmt.Println(time.Since(a)) }
 a:=time.Now(); for seed:=range uint64(1000){ Simulate(SimConfig{Seed:seed,Both:true,Impair:[4]Impair{LossAll(.01),LossAll(.01),LossAll(.01),LossAll(.01)}}) }; fmt.Println("1000 sims",time.Since(a)) }
