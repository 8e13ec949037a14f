/** Runs in documents, see `collect-storage.ts`, so it must use nothing from this module. */

export type Encoded = { plain: unknown } | { encoded: unknown }

/** Encodes a value of IndexedDB; throws an error named `LeftOut` for kinds that can't be restored. */
export type Encode = (value: unknown) => Encoded

/** Encodes circular and shared objects, maps, sets, dates and bytes for Playwright; keeps plain JSON. */
export function createEncode(): Encode {
  const mostLevels = 200
  const types = 'Int8 Uint8 Uint8Clamped Int16 Uint16 Int32 Uint32 Float32 Float64 BigInt64 BigUint64'.split(
    ' ',
  )
  const shortNames = 'i8 ui8 ui8c i16 ui16 i32 ui32 f32 f64 bi64 bui64'.split(' ')
  const leave = (kind: string): never => {
    throw Object.assign(new Error(kind), { name: 'LeftOut' })
  }
  const ofPrimitive = (value: unknown) => {
    if (typeof value === 'bigint') return { bi: String(value) }
    if (Object.is(value, -0)) return { v: '-0' }
    const isJson =
      value !== undefined && value !== null && !(typeof value === 'number' && !Number.isFinite(value))
    return isJson ? value : { v: String(value) }
  }
  const ofDate = (date: Date) => (Number.isNaN(date.getTime()) ? leave('invalid date') : { d: date.toJSON() })

  return whole => {
    const ids = new Map<object, number>()
    const buffers = new Set<unknown>()
    let isPlain = true
    const bytesOf = (buffer: ArrayBufferLike, offset: number, length: number): string => {
      // Two views of one buffer would be restored as views of two.
      if (buffers.has(buffer)) leave('shared buffer')
      buffers.add(buffer)
      let binary = ''
      for (let at = 0; at < length; at += 8192)
        binary += String.fromCharCode(...new Uint8Array(buffer, offset + at, Math.min(8192, length - at)))
      return btoa(binary)
    }
    const branches: Record<string, (value: never, id: number, level: number) => unknown> = {
      Array(value: unknown[], id, level) {
        if (Object.keys(value).length !== value.length) leave('sparse array')
        return { a: value.map(item => inner(item, level)), id }
      },
      Object(value: Record<string, unknown>, id, level) {
        const keys = Object.keys(value)
        if (keys.includes('__proto__')) leave('object with __proto__')
        return { o: keys.map(k => ({ k, v: inner(value[k], level) })), id }
      },
      Map: (value: Map<unknown, unknown>, id, level) => ({
        m: Array.from(value, ([k, v]) => ({ k: inner(k, level), v: inner(v, level) })),
        id,
      }),
      Set: (value: Set<unknown>, id, level) => ({ s: Array.from(value, item => inner(item, level)), id }),
      Date: ofDate,
      RegExp: (value: RegExp) => ({ r: { p: value.source, f: value.flags } }),
      ArrayBuffer: (value: ArrayBuffer) => ({ ab: { b: bytesOf(value, 0, value.byteLength) } }),
    }
    for (const [at, type] of types.entries())
      branches[`${type}Array`] = ({ buffer, byteOffset, byteLength }: Uint8Array) => ({
        ta: { b: bytesOf(buffer, byteOffset, byteLength), k: shortNames[at] },
      })
    const ofObject = (value: object, level: number): unknown => {
      const tag = Object.prototype.toString.call(value).slice(8, -1)
      const known = ids.get(value)
      isPlain &&= known === undefined && /^(?:Array|Object)$/.test(tag)
      if (known !== undefined) return { ref: known }
      if (level > mostLevels) leave('deeply nested object')
      const branch = branches[tag] ?? (() => leave(tag))
      ids.set(value, ids.size + 1)
      return branch(value as never, ids.size, level + 1)
    }
    const inner = (value: unknown, level: number): unknown => {
      if (value !== null && typeof value === 'object') return ofObject(value, level)
      const form = ofPrimitive(value)
      isPlain &&= value === null || form === value
      return form
    }
    const encoded = inner(whole, 0)
    return isPlain ? { plain: whole } : { encoded }
  }
}
