/** Returns the value at a JSON pointer (RFC 6901) in its URI form, which follows `#`; undefined if none. */
export function valueAt(document: unknown, pointer: string): unknown {
  if (pointer === '') return document
  if (!pointer.startsWith('/')) return undefined
  let current = document
  for (const part of pointer.slice(1).split('/')) {
    const name = decodePart(part)
    if (name === undefined) return undefined
    current = Array.isArray(current) ? itemAt(current, name) : memberOf(current, name)
    if (current === undefined) return undefined
  }
  return current
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}

function itemAt(list: unknown[], name: string): unknown {
  return /^(?:0|[1-9]\d{0,8})$/.test(name) ? list[Number(name)] : undefined
}

function decodePart(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return undefined
  }
}
