d//@ operator example.Pool
//@ inputs x w
//@ outputs y indices
//@ types T,T->T,int64; T=float32|float16
//@ attribute size int 2
//@ attribute alpha float 0.5
//@ shape y = [x.0, max(1, (x.1 - size) / size % 7 + 1), min(x.2, w.size)]
//@ shape indices = broadcast x w
//@ kernel pool float32
//@ kernel pool_half float16
//@ grid (y.size + 255) / 256, y.0, 1
//@ block 256
//@ shared 4 * x.rank
//@ arguments x, w, y, indices, y.size * 2, alpha
