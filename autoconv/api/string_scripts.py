"""The scripts of Unicode's code points, such as Latin, Greek and Han."""

from __future__ import annotations

import base64
import functools
import zlib
from typing import Any

import numpy as np

from autoconv.api.tensors.accepted_dtypes import as_indices
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.gather import gather, where
from autoconv.graph.dtypes import int32
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def unicode_script(input: TensorLike, name: str | None = None) -> Tensor:
    """The script of each code point, by the numbers of ICU: 25 for Latin, 14 for Greek; -1 for no code point.

    >>> autoconv.strings.unicode_script([0x41, 0x3B1, 0x4E00, -1]).numpy()
    array([25, 14, 17, -1], dtype=int32)
    """
    input = as_indices("unicode_script", input, frozenset({int32}))
    points = cast(convert_to_tensor(input), int32)
    first_points, scripts = _ranges()
    flat_points = apply("reshape", points, shape=(-1,))
    range_counts: Any = apply("searchsorted", first_points, flat_points, side="right", dtype=int32)
    flat_scripts = gather(scripts, apply("maximum", range_counts - 1, 0))
    is_code_point = apply("logical_and", apply("greater_equal", points, 0), apply("less", points, 0x110000))
    return where(is_code_point, apply("reshape", flat_scripts, apply("shape", points, dtype=int32), shape=None), -1)


@functools.cache
def _ranges() -> tuple[np.ndarray, np.ndarray]:
    """Return the first code point of each range of `_RANGES`, in ascending order, and the script of the range."""
    data = zlib.decompress(base64.b85decode("".join(_RANGES.split())))
    count = len(data) // 5  # each range has a difference of 4 bytes and a script of 1 byte
    first_points = np.cumsum(np.frombuffer(data[: 4 * count], "<u4"), dtype=np.int64).astype(np.int32)
    return first_points, np.frombuffer(data[4 * count :], np.uint8).astype(np.int32)


# The ranges of code points of one script in Unicode: 32-bit differences of their first code points, then the scripts as
# bytes; compressed by zlib, in base 85.
_RANGES = r"""
c-o~{>u+2~6~A-$?(W@(*Y?I)XKiP_NgX@!BX2iO(lkj+6RK2B)0CuXqAC(C2bz$k#6^9m52Y%lBBiB>J}e#qN@ziX@=7Tb8W4!TfQnE3z-K=2
3HXA<nR|cZ{dw563)OFD=iYgobLPyMbI#l#2!j1u2DIc*Z_;A4bfeB{>BsXh>fh<#82W4pwe)E@uO-5m4BFkh@tzHh<M%$)d$m-w^k{howBAJD
DBicCb~JWqiM0%Zmt9i{G8()a&^2vJ6Lk^u2Jn6s^;(*H1M%JrS!~~KYTt-wr^_L{JARhOw3d~4ucFP3U#;Z`*3yl+1Ej|oZLZYNp7-<{p}*jb
k3hrF7(;tn_w<{iaqakpZE9X`)|;Op+Ii1D?0YZv!i_0-Hq(i}lfUSV&(N4|lBEn9d2jr3`t|ww`psZ$rh|T~kTE3vvQ8pTW<z{4o(?luM+Evl
ov_UrSc$P+-n!j+??GGa^+#A&NbS70Mf4Yzpj~XEyG}gvo)6)@4Z*|bv(0;Vw%bGJi2JK}Ugg=EAsJY<oVO=2+KRL<c0YEJUEA}&uFZZr|Fp_$
@5k7z*PbICxN~fM*T>O6g0?YwXP=%YJz9A#!>9W4*!~GxvwgVL+lRa-n`__Ty|4L@^PG%3z4n_?H=$b>vyP$N>Ex*}^_zCgA=D-C>!S6SVE@kc
`mkTV9XbDS59vHdweRB!WZ$;`1o%xruLscQVyQc`WiNKx_Xh31m3I<j1}L^=NH0Sq&t8flA;z-Y6}0za>}{Yu1)BS`Y=>Rj_8GKylW*CK^}6+i
<S$~<VOJX;pKIfjv#>*Fe_P0}u%9}BdKb;J4>ivgM!omAL)<r%--L+Cd|oO<$G)%d;$ngJ(zYL`_-;u5OtTB~oA60%&^PMo#qk_O-HWs3V#+IF
8mFB-UxrX~VaqP;yw6Z>w~6wdIp{CHgb$b@UtA&IRG@SG|JGK9qp&;YlTSdG@1u?58t+#fGDNh$5!u+WHu2cD-%amX@^SZ2+-t&bmhtY+>pnam
AwAxu<qa*@>S_PKkEFDpkJ5Sv<h18y(xkrTH0H&~D?bH!rpYIbV_)5wbZ2)4^A4acqrHio(~#dUksq)$W~skOx*Mh(x<EGX$C#TDr`)}O{UF!v
Y-7SZFA>qco$_Tz^Yw{zZT%Qy{XwJ$<(x^!-4C11LkI3YGT_;;>5!jVKA*#xIs=+L*kk*Ay_WT)i=H<A^E&bghV0Mre%6Z*P4B){qFiQ*_9D|k
ublI-ev6b#mC-)n$;P>_JImJg9;2L*V}RYK!=Ar#{$mQy7s<A^kbiS`uo2M7pe;+Wu;JNi1ewNR51T0lI=zn&-3a>=BUU+Ef6>~pN%__=*N%CW
bm;g_dO0=gsYdqN#J<FImRYaP_J)Yg0NKGl&{zez`!H`K`71}q&$m~Te36%5=Rwz%G0G<juwiE_HS&`yh*y<jv%3pf{oe|Iunqga4ShM%yOm|s
wEV}o7r#RI95;R(et8HwaB*Z7{2OFLH+eC%PPU$-I9&zpG0-|q-x5mbcYD3RL+;73+2u;Rp`#+*AO6>SA?JmDEb{MUS?|u{;?tM3oT4!e<oZtk
SFq16=dow{7V<4Q?B5FH)lP@k<4lHhAGSX38oqDbi`ZPI^|23)z4bP{d%v^6BE_nZ{Co-g-CB;q))N^`D^5&N9#$lO)AaOTfzA5+FzJ0~3TaPb
(oxRqU+2B&Sa&A1$G6FLwo;BdpGjl-1GH~;y?@a1t`gW3wPg5{PClqi-qF~$Gfa65w~5iG$sguOuSJR>Ztd=FZ}<Eyop4g?`*0_U$PRkpn|$4r
C`SCNKh={};`=5&!&dHpuEoBa)c0pV&wW?Ar0tOoJVW_=hWr-i7Pg#HVgG^lG4$O?bYnUj4b0gMA7b?|PxrXv;8RBo{sh)_u+6tA|C^X0n>U_b
_j|cZ?DY?MJ|*jYi*w`dM7}X%THi7+g{d87$);}4w&wJDcW3r9f2O$2xto*oyh-m%j<$XHBjq(4=nly9dX?bE(6>j+?`ds=o*e#jaf$D~xh48c
n>%<r`pXr6UgYgn)Io+K={rkuWT}0-J0GTXFTWRd)9roB=q7(+Y5xd0{DAij%h4%#_pKak`!AW)-rPBI^&I$~pj^0*?oBhEpL4Oe;l=1jAkQ6?
yOznG_`713a*#TGKP`}KdDzug>2Be4kW;}vxRS=I>7LZzd;mTdYbnny>gb16fQB~yRT&;q|8Vth#f4a7{ozwu{vISkEJijkm7pRh_TM63iA^k-
1S=ARL4ve4iXdDoig2AAm*Y>!6LP0wt%Q<{DVkzXjHEMqmO=Lt7+wO`ErXHvSSg(_un229U{r!pS=AO}Ed*mSRF(umxmuFtkyET+EzO`Q<BEwu
CS@u?e}X~vE`yR{y=->aF56{yivAt4<9=~4a--tGy|VWXQG7PGvOFjzXhG_gxL#4{zY$Z1Npysr64dplGbK<CYDUhwB*Dhye@14co|k;8fEz6S
d%bZWy$N(euZ5}Vzx1hueVV}3Br8=>qm`OgRoh|*$p*#KpOpBb6{D_l)ORU`yX65z@o;eXoSdu5tOT<%J0v%y7<y8kyg;mVVnrp+U62dP!@|l@
UpN5?tZ}C{t`dof(-qp+AYq+IR27G`d&?puZK}3Jb#g{NZ7DUR(IqEjTBi5N9w}_wDqH1;iZ9By6h{+mYGF?1UVK4bkndQWl#^%WtQ>n@6gy=x
p82voqIgIidR!iVR33dyEbfxqEUwB`mHb+QU&`C^8+k|eTRbce%d3jdD=y0`YT(~cyuN_1D4tsc^PJc41I0HLR}|k>49aVYZzuSvyd*FERu<#e
34S7P$@k<9;LQX-UWA_!elAbjQ+=PLIH>r#T$HaR_=4il0)8Q<63o9Gyr=s*FZ1u|U#(AVt0phYvktJ?h0{>MCVps~7mJw%{0ewiaY^z01kP+e
Dm><WfqWG7E<%tT=l=khhBTD
"""
