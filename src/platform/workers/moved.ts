import { move, transferableSymbol, valueSymbol } from 'piscina'

/** In a thread: a result whose buffers move to the main thread, which would else copy them. */
export function moved(value: object, buffers: readonly ArrayBuffer[]): unknown {
  const result = { [transferableSymbol]: buffers, [valueSymbol]: value }
  return move(result as Parameters<typeof move>[0])
}
