//! Arrays of Arrow from the bytes of a column.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, FixedSizeBinaryArray, FixedSizeListArray,
    PrimitiveArray, StringArray, StructArray, UInt64Array,
};
use arrow_buffer::{BooleanBuffer, Buffer, MutableBuffer, NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Fields};
use phalanx::reflect::VariantInfo;
use phalanx::Entity;

use crate::error::ExportError;
use crate::kind::{Child, Kind, Scalar};

impl Kind {
    /// The type of the arrays. Children of structs are nullable if the struct is.
    pub(crate) fn data_type(&self, nullable: bool) -> Result<DataType, ExportError> {
        Ok(match self {
            Self::Scalar(scalar) => scalar.data_type(),
            Self::List(item, len) => {
                DataType::FixedSizeList(Arc::new(item_field(item)?), arrow_len(*len)?)
            }
            Self::Struct(children) => DataType::Struct(child_fields(children, nullable)?),
            Self::Enum(_) => DataType::Dictionary(DataType::UInt8.into(), DataType::Utf8.into()),
            Self::Tag => DataType::Boolean,
            Self::Bytes(size) => DataType::FixedSizeBinary(arrow_len(*size)?),
        })
    }

    /// The array of `len` values. It has the buffer itself where the layout is Arrow's.
    ///
    /// # Panics
    ///
    /// If the buffer is shorter than `len` values, or less aligned than they are.
    pub(crate) fn array(
        &self,
        bytes: Buffer,
        len: usize,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef, ExportError> {
        Ok(match self {
            Self::Scalar(scalar) => scalar.array(bytes, len, nulls),
            Self::List(item, items) => {
                let values = item.array(bytes, len * items, None)?;
                let (field, items) = (Arc::new(item_field(item)?), arrow_len(*items)?);
                Arc::new(FixedSizeListArray::try_new(field, items, values, nulls)?)
            }
            Self::Struct(children) => struct_array(children, &bytes, len, nulls)?,
            Self::Enum(variants) => {
                let keys =
                    PrimitiveArray::<UInt8Type>::new(ScalarBuffer::new(bytes, 0, len), nulls);
                Arc::new(DictionaryArray::try_new(keys, Arc::new(names(variants)))?)
            }
            Self::Tag => Arc::new(BooleanArray::new(BooleanBuffer::new_set(len), nulls)),
            Self::Bytes(size) => {
                Arc::new(FixedSizeBinaryArray::try_new(arrow_len(*size)?, bytes, nulls)?)
            }
        })
    }

    /// The array of `len` values that are all null. Its dictionaries equal the ones of other arrays
    /// of the kind, since a file has one for each column.
    pub(crate) fn null_array(&self, len: usize) -> Result<ArrayRef, ExportError> {
        let zeros = MutableBuffer::from_len_zeroed(len * self.size()).into();
        self.array(zeros, len, Some(NullBuffer::new_null(len)))
    }

    /// The array with the type for nullable values: the type of a struct contains it.
    pub(crate) fn nullable(&self, array: &ArrayRef) -> Result<ArrayRef, ExportError> {
        let Self::Struct(children) = self else { return Ok(Arc::clone(array)) };
        let (_, arrays, nulls) = array.as_struct().clone().into_parts();
        let fields = child_fields(children, true)?;
        Ok(Arc::new(StructArray::try_new(fields, arrays, nulls)?))
    }

    /// The bytes of a value.
    fn size(&self) -> usize {
        match self {
            Self::Scalar(scalar) => scalar.size(),
            Self::List(item, len) => item.size() * len,
            Self::Struct(children) => {
                children.iter().map(|child| child.offset + child.size).max().unwrap_or(0)
            }
            Self::Enum(_) => 1,
            Self::Tag => 0,
            Self::Bytes(size) => *size,
        }
    }
}

impl Scalar {
    const fn data_type(self) -> DataType {
        match self {
            Self::Bool => DataType::Boolean,
            Self::I8 => DataType::Int8,
            Self::I16 => DataType::Int16,
            Self::I32 => DataType::Int32,
            Self::I64 => DataType::Int64,
            Self::U8 => DataType::UInt8,
            Self::U16 => DataType::UInt16,
            Self::U32 => DataType::UInt32,
            Self::U64 | Self::Entity => DataType::UInt64,
            Self::F32 => DataType::Float32,
            Self::F64 => DataType::Float64,
        }
    }

    fn array(self, bytes: Buffer, len: usize, nulls: Option<NullBuffer>) -> ArrayRef {
        match self {
            Self::Bool => {
                let bits = BooleanBuffer::collect_bool(len, |row| bytes[row] != 0);
                Arc::new(BooleanArray::new(bits, nulls))
            }
            Self::Entity => {
                let ids = phalanx::bytemuck::cast_slice::<u8, Entity>(&bytes[..len * 8]);
                Arc::new(UInt64Array::new(id_values(ids), nulls))
            }
            Self::I8 => primitive::<Int8Type>(bytes, len, nulls),
            Self::I16 => primitive::<Int16Type>(bytes, len, nulls),
            Self::I32 => primitive::<Int32Type>(bytes, len, nulls),
            Self::I64 => primitive::<Int64Type>(bytes, len, nulls),
            Self::U8 => primitive::<UInt8Type>(bytes, len, nulls),
            Self::U16 => primitive::<UInt16Type>(bytes, len, nulls),
            Self::U32 => primitive::<UInt32Type>(bytes, len, nulls),
            Self::U64 => primitive::<UInt64Type>(bytes, len, nulls),
            Self::F32 => primitive::<Float32Type>(bytes, len, nulls),
            Self::F64 => primitive::<Float64Type>(bytes, len, nulls),
        }
    }
}

/// Ids as integers. A copy: in memory an id is its index followed by its generation, and in the
/// integer the index is the high half, so that ids and integers have the same order.
pub(crate) fn id_values(ids: &[Entity]) -> ScalarBuffer<u64> {
    ids.iter().map(|id| id.to_bits()).collect()
}

fn primitive<T: ArrowPrimitiveType>(
    bytes: Buffer,
    len: usize,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::new(bytes, 0, len), nulls))
}

fn item_field(item: &Kind) -> Result<Field, ExportError> {
    Ok(Field::new("item", item.data_type(false)?, false))
}

fn child_fields(children: &[Child], nullable: bool) -> Result<Fields, ExportError> {
    let field =
        |child: &Child| Ok(Field::new(child.name, child.kind.data_type(nullable)?, nullable));
    children.iter().map(field).collect()
}

/// A copy of each field. The children of a null row are null as well, for readers that look at a
/// child alone.
fn struct_array(
    children: &[Child],
    bytes: &Buffer,
    len: usize,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ExportError> {
    let row_bytes = bytes.len().checked_div(len).unwrap_or(0);
    let array = |child: &Child| {
        let cells = gather(bytes, row_bytes, child.offset, child.size);
        child.kind.array(cells, len, nulls.clone())
    };
    let arrays = children.iter().map(array).collect::<Result<Vec<_>, _>>()?;
    let fields = child_fields(children, nulls.is_some())?;
    Ok(Arc::new(StructArray::try_new(fields, arrays, nulls)?))
}

/// The cells of one field, row after row.
fn gather(bytes: &[u8], row_bytes: usize, offset: usize, size: usize) -> Buffer {
    fn fixed<const SIZE: usize>(rows: std::slice::ChunksExact<'_, u8>, at: usize) -> Buffer {
        let mut cells = MutableBuffer::with_capacity(rows.len() * SIZE);
        for row in rows {
            let cell: [u8; SIZE] = row[at..at + SIZE].try_into().expect("it has the length");
            cells.extend_from_slice(&cell);
        }
        cells.into()
    }
    if bytes.is_empty() {
        return MutableBuffer::new(0).into();
    }
    let rows = bytes.chunks_exact(row_bytes);
    match size {
        1 => fixed::<1>(rows, offset),
        2 => fixed::<2>(rows, offset),
        4 => fixed::<4>(rows, offset),
        8 => fixed::<8>(rows, offset),
        12 => fixed::<12>(rows, offset),
        16 => fixed::<16>(rows, offset),
        _ => {
            let mut cells = MutableBuffer::with_capacity(rows.len() * size);
            rows.for_each(|row| cells.extend_from_slice(&row[offset..offset + size]));
            cells.into()
        }
    }
}

/// The name of each possible byte: the bytes of a column are the keys. A byte without a variant has
/// its number as a name, and no row has it.
fn names(variants: &[VariantInfo]) -> StringArray {
    let last = variants.iter().map(|variant| variant.value).max().unwrap_or(0);
    let name = |byte: u8| match variants.iter().find(|variant| variant.value == byte) {
        Some(variant) => variant.name.to_owned(),
        None => byte.to_string(),
    };
    (0..=last).map(|byte| Some(name(byte))).collect()
}

fn arrow_len(len: usize) -> Result<i32, ExportError> {
    i32::try_from(len).map_err(|_| ExportError::RowTooLarge { size: len })
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;

    use super::*;

    fn buffer(bytes: &[u8]) -> Buffer {
        let mut copy = MutableBuffer::new(bytes.len());
        copy.extend_from_slice(bytes);
        copy.into()
    }

    fn child(name: &'static str, offset: usize, size: usize, kind: Kind) -> Child {
        Child { name, offset, size, kind }
    }

    #[test]
    fn fields_are_gathered_from_rows_of_every_size() {
        for size in 1..=20 {
            let rows: Vec<u8> = (0..3 * 24).collect();
            let cells = gather(&rows, 24, 2, size);
            let expected = [2, 26, 50].map(|start| &rows[start..start + size]).concat();
            assert_eq!(cells.as_slice(), expected, "{size} bytes");
            assert_eq!(cells.as_ptr() as usize % 8, 0, "as aligned as any value");
        }
    }

    #[test]
    fn shared_kinds_keep_the_buffer_and_the_others_do_not() {
        let kinds = [
            Kind::Scalar(Scalar::U32),
            Kind::List(Box::new(Kind::Scalar(Scalar::F32)), 4),
            Kind::Bytes(8),
            Kind::Scalar(Scalar::Bool),
            Kind::Scalar(Scalar::Entity),
            Kind::Struct(vec![child("a", 0, 2, Kind::Scalar(Scalar::U16))]),
        ];
        for kind in kinds {
            let bytes = buffer(&[1; 16 * 8]);
            let array = kind.array(bytes.clone(), bytes.len() / kind.size(), None).unwrap();
            let mut leaf = array.to_data();
            while let Some(inner) = leaf.child_data().first().cloned() {
                leaf = inner;
            }
            let is_same = leaf.buffers()[0].as_ptr() == bytes.as_ptr();
            assert_eq!(is_same, kind.is_shared(), "{kind:?}");
        }
    }

    #[test]
    fn every_kind_has_the_type_that_it_says_with_and_without_nulls() {
        const STATES: &[VariantInfo] = &[VariantInfo::new("Idle", 0), VariantInfo::new("Dead", 3)];
        let scalars = [
            Scalar::Bool,
            Scalar::I8,
            Scalar::I16,
            Scalar::I32,
            Scalar::I64,
            Scalar::U8,
            Scalar::U16,
            Scalar::U32,
            Scalar::U64,
            Scalar::F32,
            Scalar::F64,
            Scalar::Entity,
        ];
        let mut kinds: Vec<_> = scalars.into_iter().map(Kind::Scalar).collect();
        kinds.extend(kinds.clone().into_iter().map(|kind| Kind::List(Box::new(kind), 2)));
        let children = vec![child("a", 0, 4, kinds[3].clone()), child("b", 4, 1, kinds[0].clone())];
        kinds.extend([Kind::Enum(STATES), Kind::Tag, Kind::Bytes(3), Kind::Struct(children)]);
        for kind in kinds {
            for len in [0, 1, 100] {
                let array = kind.array(buffer(&vec![0; len * kind.size()]), len, None).unwrap();
                assert_eq!(array.data_type(), &kind.data_type(false).unwrap());
                assert_eq!((array.len(), array.null_count()), (len, 0), "{kind:?}");
                let array = kind.null_array(len).unwrap();
                assert_eq!(array.data_type(), &kind.data_type(true).unwrap());
                assert_eq!((array.len(), array.null_count()), (len, len), "{kind:?}");
            }
        }
    }

    #[test]
    fn the_bytes_of_an_enum_are_the_keys_of_its_names() {
        const STATES: &[VariantInfo] = &[VariantInfo::new("Idle", 0), VariantInfo::new("Dead", 3)];
        let array = Kind::Enum(STATES).array(buffer(&[3, 0, 3]), 3, None).unwrap();
        let array = array.as_dictionary::<UInt8Type>().downcast_dict::<StringArray>().unwrap();
        let read: Vec<_> = array.into_iter().map(Option::unwrap).collect();
        assert_eq!(read, ["Dead", "Idle", "Dead"]);
        assert!(Kind::Enum(STATES).array(buffer(&[4]), 1, None).is_err(), "a key that is checked");
    }

    #[test]
    fn a_row_that_is_too_large_is_refused() {
        let error = Kind::Bytes(1 << 31).data_type(false).unwrap_err();
        assert!(error.to_string().contains("split the component"), "{error}");
    }
}
