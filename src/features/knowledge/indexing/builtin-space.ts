import { builtinEmbedding } from '#models/embeddings/builtin-embedding.ts'
import type { VectorSpace } from '#storage/search/search-engine.ts'

export const builtinSpace: VectorSpace = { ...builtinEmbedding, form: 'bits' }
