//! The component types, defined once for each library: each needs its own derives on them.

/// Define every component type with the given attributes (each library needs
/// its own derive on them).
macro_rules! components {
    ($($m:tt)*) => {
        $crate::components::components_inner! { [$($m)*]
            Transform([f32; 16]) Mat(glam::Mat4) Quad([f32; 4]) Data(f32)
            A(f32) B(f32) C(f32) D(f32) E(f32) F(f32) G(f32) H(f32) I(f32) J(f32) K(f32) L(f32) M(f32)
            N(f32) O(f32) P(f32) Q(f32) R(f32) S(f32) T(f32) U(f32) V(f32) W(f32) X(f32) Y(f32) Z(f32)
        }
        $crate::components::components_vec3! { [$($m)*] Position Rotation Velocity }
        $crate::components::components_tag! { [$($m)*]
            T0 T1 T2 T3 T4 T5 T6 T7 T8 T9 T10 T11 T12 T13 T14 T15 New
        }
        $crate::components::components_cell! { [$($m)*] }
        $crate::components::transform_sum! {}
    };
}
macro_rules! transform_sum {
    () => {
        impl Transform {
            pub(crate) fn sum(&self) -> f64 {
                self.0.iter().map(|&x| x as f64).sum()
            }
        }
    };
}
macro_rules! components_inner {
    ([$($m:tt)*]) => {};
    ([$($m:tt)*] $n:ident ($t:ty) $($rest:tt)*) => {
        $($m)* #[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)] #[repr(transparent)]
        #[allow(dead_code, reason = "no library uses all of them")]
        pub(crate) struct $n(pub(crate) $t);
        $crate::components::components_inner! { [$($m)*] $($rest)* }
    };
}
macro_rules! components_vec3 {
    ([$($m:tt)*]) => {};
    ([$($m:tt)*] $n:ident $($rest:tt)*) => {
        $($m)* #[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
        #[repr(C)]
        pub(crate) struct $n { pub(crate) x: f32, pub(crate) y: f32, pub(crate) z: f32 }
        #[allow(dead_code, reason = "no library uses all of them")]
        impl $n {
            #[inline]
            pub(crate) fn new([x, y, z]: [f32; 3]) -> Self { Self { x, y, z } }
            pub(crate) fn sum(&self) -> f64 { self.x as f64 + self.y as f64 + self.z as f64 }
        }
        $crate::components::components_vec3! { [$($m)*] $($rest)* }
    };
}
macro_rules! components_tag {
    ([$($m:tt)*]) => {};
    ([$($m:tt)*] $n:ident $($rest:tt)*) => {
        $($m)* #[derive(Clone, Copy, Debug)]
        #[allow(dead_code, reason = "no library uses all of them")]
        pub(crate) struct $n;
        $crate::components::components_tag! { [$($m)*] $($rest)* }
    };
}
macro_rules! components_cell {
    ([$($m:tt)*]) => {
        $($m)* #[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)] #[repr(C)]
        #[allow(dead_code, reason = "no library uses all of them")]
        pub(crate) struct Cell { pub(crate) alive: u32, pub(crate) next: u32 }

        $($m)* #[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)] #[repr(C)]
        #[allow(dead_code, reason = "no library uses all of them")]
        pub(crate) struct Tally { pub(crate) x: u32, pub(crate) y: u32, pub(crate) z: u32 }
        #[allow(dead_code, reason = "no library uses all of them")]
        impl Tally {
            #[inline]
            pub(crate) fn new([x, y, z]: [u32; 3]) -> Self { Self { x, y, z } }
            #[inline(always)]
            pub(crate) fn sum(&self) -> u32 { self.x.wrapping_add(self.y).wrapping_add(self.z) }
        }
    };
}
/// Run a macro for each of the 26 fragmentation markers.
macro_rules! for_letters {
    ($mac:ident) => {
        $mac! { A B C D E F G H I J K L M N O P Q R S T U V W X Y Z }
    };
}
/// Run a macro for each of the 16 tags, with its bit.
macro_rules! for_tags {
    ($mac:ident) => {
        $mac! { T0 0, T1 1, T2 2, T3 3, T4 4, T5 5, T6 6, T7 7, T8 8, T9 9, T10 10, T11 11, T12 12, T13 13, T14 14, T15 15 }
    };
}
/// Run a macro for each of the four tags of `random_get_mixed`, with its bit.
macro_rules! for_few_tags {
    ($mac:ident) => {
        $mac! { T0 0, T1 1, T2 2, T3 3 }
    };
}
/// The rows of `add_remove/wide`: eight components of 200 bytes together.
macro_rules! wide_rows {
    () => {
        type Wide = (Transform, Mat, Quad, Position, Rotation, Velocity, Cell, Tally);

        fn wide(i: usize) -> Wide {
            let number = i as f32;
            (
                Transform([number; 16]),
                Mat(mat0()),
                Quad([number; 4]),
                Position::new(pos0(i)),
                Rotation::new([0.0; 3]),
                Velocity::new(vel0(i)),
                Cell { alive: i as u32, next: 1 },
                Tally::new([i as u32, 1, 7]),
            )
        }

        const WIDE_BYTES: usize = size_of::<Transform>()
            + size_of::<Mat>()
            + size_of::<Quad>()
            + size_of::<Position>()
            + size_of::<Rotation>()
            + size_of::<Velocity>()
            + size_of::<Cell>()
            + size_of::<Tally>();
        const _: () = assert!(WIDE_BYTES == 200);
    };
}
/// The sum of all numbers of such a row; `$get!` reads its components.
macro_rules! wide_sum {
    ($get:ident) => {{
        let floats = $get!(Transform).sum()
            + mat_sum(&$get!(Mat).0)
            + $get!(Quad).0.map(f64::from).iter().sum::<f64>()
            + $get!(Position).sum()
            + $get!(Rotation).sum()
            + $get!(Velocity).sum();
        let cell = $get!(Cell);
        (floats + f64::from(cell.alive + cell.next) + f64::from($get!(Tally).sum())) as f32
    }};
}
/// Run a macro for each of the 50 pairs of a tag of the first five and one of the ten after them.
macro_rules! for_pairs {
    ($mac:ident) => { for_pairs! { $mac T0 T1 T2 T3 T4 } };
    ($mac:ident $($first:ident)*) => {$(
        $mac! { $first T5 }
        $mac! { $first T6 }
        $mac! { $first T7 }
        $mac! { $first T8 }
        $mac! { $first T9 }
        $mac! { $first T10 }
        $mac! { $first T11 }
        $mac! { $first T12 }
        $mac! { $first T13 }
        $mac! { $first T14 }
    )*};
}
/// Run a macro once, with an argument and the same 50 pairs in parentheses.
macro_rules! with_pairs {
    ($mac:ident $argument:tt) => {
        $mac! { $argument
            (T0 T5) (T0 T6) (T0 T7) (T0 T8) (T0 T9) (T0 T10) (T0 T11) (T0 T12) (T0 T13) (T0 T14)
            (T1 T5) (T1 T6) (T1 T7) (T1 T8) (T1 T9) (T1 T10) (T1 T11) (T1 T12) (T1 T13) (T1 T14)
            (T2 T5) (T2 T6) (T2 T7) (T2 T8) (T2 T9) (T2 T10) (T2 T11) (T2 T12) (T2 T13) (T2 T14)
            (T3 T5) (T3 T6) (T3 T7) (T3 T8) (T3 T9) (T3 T10) (T3 T11) (T3 T12) (T3 T13) (T3 T14)
            (T4 T5) (T4 T6) (T4 T7) (T4 T8) (T4 T9) (T4 T10) (T4 T11) (T4 T12) (T4 T13) (T4 T14)
        }
    };
}
pub(crate) use {
    components, components_cell, components_inner, components_tag, components_vec3, for_few_tags,
    for_letters, for_pairs, for_tags, transform_sum, wide_rows, wide_sum, with_pairs,
};
