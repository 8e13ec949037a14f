import { builtinEmbedding } from '#models/builtin-embedding.ts'
import type { VectorSpace } from '#storage/search-engine.ts'

export const builtinSpace: VectorSpace = { ...builtinEmbedding, form: 'bits' }
