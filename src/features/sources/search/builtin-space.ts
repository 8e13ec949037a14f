import { builtinEmbedding } from '#models/builtin-embedding.ts'
import type { VectorSpace } from '#storage/sqlite/vectors.ts'

export const builtinSpace: VectorSpace = { ...builtinEmbedding, form: 'bits' }
