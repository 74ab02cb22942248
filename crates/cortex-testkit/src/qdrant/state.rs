//! What the server of tests keeps.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use qdrant_client::qdrant::{
    NamedVectors, PointId, PointStruct, SparseVector, Value, VectorParams, Vectors, point_id::PointIdOptions, vector,
    vectors::VectorsOptions,
};
use tonic::Status;

/// Collections by their names.
pub type Collections = BTreeMap<String, Collection>;

/// A collection.
#[derive(Default)]
pub struct Collection {
    /// The dense vectors that points may have.
    pub dense: HashMap<String, VectorParams>,
    /// The names of the sparse ones.
    pub sparse: BTreeSet<String>,
    /// The fields that filters may name.
    pub indexed: BTreeSet<String>,
    /// By their ids.
    pub points: BTreeMap<u64, Point>,
}

/// A point.
#[derive(Clone, Default)]
pub struct Point {
    /// What is kept with it.
    pub payload: HashMap<String, Value>,
    /// Its dense vectors, of length 1.
    pub dense: HashMap<String, Vec<f32>>,
    /// Its sparse ones.
    pub sparse: HashMap<String, BTreeMap<u32, f32>>,
}

pub(super) fn number(id: Option<&PointId>) -> Result<u64, Status> {
    match id.and_then(|id| id.point_id_options.as_ref()) {
        Some(PointIdOptions::Num(number)) => Ok(*number),
        _ => Err(Status::invalid_argument("only numbers are ids for the server of tests")),
    }
}

impl Collection {
    pub(super) fn upsert(&mut self, points: Vec<PointStruct>) -> Result<(), Status> {
        let mut read = Vec::new();
        for PointStruct { id, payload, vectors } in points {
            let mut point = Point { payload, ..Point::default() };
            let vectors = vectors.ok_or_else(|| Status::invalid_argument("Expected some vectors"))?;
            self.set(&mut point, vectors)?;
            read.push((number(id.as_ref())?, point));
        }
        self.points.extend(read);
        Ok(())
    }

    /// Gives a point these vectors, and leaves its others.
    pub(super) fn set(&self, point: &mut Point, vectors: Vectors) -> Result<(), Status> {
        let Some(VectorsOptions::Vectors(NamedVectors { vectors })) = vectors.vectors_options else {
            return Err(Status::invalid_argument("Wrong input: Not existing vector name error: "));
        };
        for (name, vector) in vectors {
            match vector.vector {
                Some(vector::Vector::Dense(dense)) => {
                    let normal = self.normal(&name, dense.data)?;
                    point.dense.insert(name, normal);
                }
                Some(vector::Vector::Sparse(sparse)) => {
                    let sparse = self.checked_sparse(&name, sparse)?;
                    point.sparse.insert(name, sparse);
                }
                _ => return Err(Status::unimplemented("a kind of vector that the server of tests does not know")),
            }
        }
        Ok(())
    }

    /// A dense vector as it is kept and compared: of length 1.
    pub(super) fn normal(&self, name: &str, mut data: Vec<f32>) -> Result<Vec<f32>, Status> {
        let params = self.dense.get(name).ok_or_else(|| unknown_vector(name))?;
        if data.len() as u64 != params.size {
            let (expected, got) = (params.size, data.len());
            let problem = format!("Wrong input: Vector dimension error: expected dim: {expected}, got {got}");
            return Err(Status::invalid_argument(problem));
        }
        let length = data.iter().map(|number| number * number).sum::<f32>().sqrt();
        if length > 0.0 {
            data.iter_mut().for_each(|number| *number /= length);
        }
        Ok(data)
    }

    /// A sparse vector by its indices.
    pub(super) fn checked_sparse(&self, name: &str, sparse: SparseVector) -> Result<BTreeMap<u32, f32>, Status> {
        if !self.sparse.contains(name) {
            return Err(unknown_vector(name));
        }
        let (indices, values) = (sparse.indices.len(), sparse.values.len());
        let vector: BTreeMap<u32, f32> = sparse.indices.into_iter().zip(sparse.values).collect();
        if indices != values || vector.len() != indices {
            return Err(Status::invalid_argument("Validation error: indices and values must be unique and as many"));
        }
        Ok(vector)
    }
}

fn unknown_vector(name: &str) -> Status {
    Status::invalid_argument(format!("Wrong input: Not existing vector name error: {name}"))
}
