//! The C ABI of a compiled model (onnxc/model.h), and a session over it for tensors whose shapes do not depend on data.
use std::alloc::{alloc, dealloc, Layout};
use std::ffi::{c_char, c_void, CStr};
use std::fmt;

#[repr(C)]
struct TensorInfo {
    name: *const c_char,
    cpp_name: *const c_char,
    elem_type: i32,
    rank: i32,
    shape: *const i64,
    form: i32,
    kind: i32,
}

#[repr(C)]
struct SymbolInfo {
    name: *const c_char,
    min: i64,
    max: i64,
}

#[repr(C)]
struct Call {
    symbols: *const i64,
    inputs: *const *const c_void,
    outputs: *const *mut c_void,
    output_shapes: *const *mut i64,
    arena: *mut c_void,
    arena_bytes: usize,
    executor: *const c_void,
    allocator: *const c_void,
    message: *mut c_char,
    message_bytes: usize,
}

/// What a unit's `NAME_model()` gives. Later versions of onnxc append members, which are not read here.
#[repr(C)]
pub struct Model {
    struct_bytes: usize,
    name: *const c_char,
    version: *const c_char,
    model_sha256: *const c_char,
    target: *const c_char,
    input_count: i32,
    output_count: i32,
    symbol_count: i32,
    inputs: *const TensorInfo,
    outputs: *const TensorInfo,
    symbols: *const SymbolInfo,
    arena_alignment: usize,
    weights_bytes: usize,
    arena_bytes: extern "C" fn(*const i64) -> usize,
    output_shape: extern "C" fn(*const i64, i32, *mut i64),
    run: extern "C" fn(*const Call) -> i32,
    needs_allocator: i32,
}

const MAX_RANK: usize = 10;

/// A type that tensors have, with ONNX's number for it.
pub trait Element: Copy + Default {
    const TYPE: i32;
}
impl Element for f32 {
    const TYPE: i32 = 1;
}
impl Element for i64 {
    const TYPE: i32 = 7;
}

/// A tensor that is passed in: row-major.
pub struct Input<'a> {
    data: *const c_void,
    length: usize,
    elem_type: i32,
    shape: &'a [i64],
}
impl<'a> Input<'a> {
    pub fn new<T: Element>(data: &'a [T], shape: &'a [i64]) -> Self {
        Input { data: data.as_ptr().cast(), length: data.len(), elem_type: T::TYPE, shape }
    }
}

/// Room for a result: row-major, as large as `Session::output_shape` says.
pub struct Output<'a> {
    data: *mut c_void,
    length: usize,
    elem_type: i32,
    marker: std::marker::PhantomData<&'a mut [u8]>,
}
impl<'a> Output<'a> {
    pub fn new<T: Element>(data: &'a mut [T]) -> Self {
        Output { data: data.as_mut_ptr().cast(), length: data.len(), elem_type: T::TYPE, marker: std::marker::PhantomData }
    }
}

#[derive(Debug)]
pub struct Error(String);
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for Error {}

fn text(pointer: *const c_char) -> String {
    // SAFETY: names are strings that live as long as the program.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

/// A model with memory for its runs: one run at a time.
pub struct Session {
    model: &'static Model,
    arena: *mut u8,
    layout: Layout,
}

impl Session {
    pub fn new(model: &'static Model) -> Result<Self, Error> {
        if model.needs_allocator != 0 {
            return Err(Error(format!("{} needs an allocator, which this session has not", text(model.name))));
        }
        let plain = |infos: &[TensorInfo]| infos.iter().all(|info| info.form == 0 && info.kind == 0);
        if !plain(Self::infos(model.inputs, model.input_count)) || !plain(Self::infos(model.outputs, model.output_count)) {
            return Err(Error(format!("{} has values that are no plain tensors", text(model.name))));
        }
        Ok(Session { model, arena: std::ptr::null_mut(), layout: Layout::new::<u8>() })
    }

    fn infos(first: *const TensorInfo, count: i32) -> &'static [TensorInfo] {
        // SAFETY: the unit's description says so many; it is constant.
        if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(first, count as usize) } }
    }
    fn extents(info: &TensorInfo) -> &'static [i64] {
        // SAFETY: as above.
        if info.rank <= 0 { &[] } else { unsafe { std::slice::from_raw_parts(info.shape, info.rank as usize) } }
    }

    /// The values of the model's open dimensions, from the shapes of the inputs.
    fn bind(&self, inputs: &[Input<'_>]) -> Result<Vec<i64>, Error> {
        let infos = Self::infos(self.model.inputs, self.model.input_count);
        if inputs.len() != infos.len() {
            return Err(Error(format!("{} inputs; the model has {}", inputs.len(), infos.len())));
        }
        let mut symbols = vec![None; self.model.symbol_count as usize];
        for (input, info) in inputs.iter().zip(infos) {
            let wrong = || Error(format!("input '{}' has another type or shape than the model's", text(info.name)));
            let extents = Self::extents(info);
            let elements = input.shape.iter().try_fold(1usize, |all, &d| all.checked_mul(usize::try_from(d).ok()?));
            if input.elem_type != info.elem_type || input.shape.len() != extents.len() || elements != Some(input.length) {
                return Err(wrong());
            }
            for (&given, &stated) in input.shape.iter().zip(extents) {
                let fits = match stated {
                    i64::MIN => true, // an expression, which the run checks
                    d if d >= 0 => d == given,
                    d => *symbols[(-1 - d) as usize].get_or_insert(given) == given,
                };
                if !fits {
                    return Err(wrong());
                }
            }
        }
        symbols.into_iter().map(|s| s.ok_or_else(|| Error("the inputs do not tell all dimensions".into()))).collect()
    }

    fn shape_of(&self, symbols: &[i64], output: usize) -> Vec<i64> {
        let mut extents = [0i64; MAX_RANK];
        (self.model.output_shape)(symbols.as_ptr(), output as i32, extents.as_mut_ptr());
        let rank = Self::infos(self.model.outputs, self.model.output_count)[output].rank.max(0) as usize;
        extents[..rank].to_vec()
    }

    /// The shape of an output for inputs of these shapes.
    pub fn output_shape(&self, inputs: &[Input<'_>], output: usize) -> Result<Vec<i64>, Error> {
        Ok(self.shape_of(&self.bind(inputs)?, output))
    }

    pub fn run(&mut self, inputs: &[Input<'_>], outputs: &mut [Output<'_>]) -> Result<(), Error> {
        let symbols = self.bind(inputs)?;
        let infos = Self::infos(self.model.outputs, self.model.output_count);
        if outputs.len() != infos.len() {
            return Err(Error(format!("{} outputs; the model has {}", outputs.len(), infos.len())));
        }
        for (k, (output, info)) in outputs.iter().zip(infos).enumerate() {
            let count: i64 = self.shape_of(&symbols, k).iter().product();
            if output.elem_type != info.elem_type || usize::try_from(count).ok() != Some(output.length) {
                return Err(Error(format!("output '{}' has another type or size than the model's", text(info.name))));
            }
        }
        let bytes = (self.model.arena_bytes)(symbols.as_ptr());
        let mut message = [0 as c_char; 256];
        let ins: Vec<*const c_void> = inputs.iter().map(|input| input.data).collect();
        let outs: Vec<*mut c_void> = outputs.iter().map(|output| output.data).collect();
        let mut call = Call {
            symbols: symbols.as_ptr(),
            inputs: ins.as_ptr(),
            outputs: outs.as_ptr(),
            output_shapes: std::ptr::null(),
            arena: std::ptr::null_mut(),
            arena_bytes: 0,
            executor: std::ptr::null(),
            allocator: std::ptr::null(),
            message: message.as_mut_ptr(),
            message_bytes: message.len(),
        };
        if bytes != usize::MAX {
            // A run refuses other dimensions, before it looks at the arena.
            self.make_room(bytes)?;
            call.arena = self.arena.cast();
            call.arena_bytes = bytes;
        }
        match (self.model.run)(&call) {
            0 => Ok(()),
            status => Err(Error(format!("{}: status {status}: {}", text(self.model.name), text(message.as_ptr())))),
        }
    }

    fn make_room(&mut self, bytes: usize) -> Result<(), Error> {
        if !self.arena.is_null() && self.layout.size() >= bytes {
            return Ok(());
        }
        let layout = Layout::from_size_align(bytes.max(1), self.model.arena_alignment).map_err(|e| Error(e.to_string()))?;
        // SAFETY: the size is not 0.
        let arena = unsafe { alloc(layout) };
        if arena.is_null() {
            return Err(Error(format!("no memory for an arena of {bytes} bytes")));
        }
        self.give_back();
        (self.arena, self.layout) = (arena, layout);
        Ok(())
    }

    fn give_back(&mut self) {
        if !self.arena.is_null() {
            // SAFETY: it was taken with this layout.
            unsafe { dealloc(self.arena, self.layout) };
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.give_back();
    }
}
