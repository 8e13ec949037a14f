/** A part of a text, decoded on trial. */

/** Min length of a sample that can end within a character. */
const longSampleBytes = 8 * 1024
/** Max share of broken characters in a text. */
const fewErrors = 0.05

/** Decodes a sample, without a character that the end of a long one has cut. */
export function decodeSample(sample: Uint8Array, encoding: string): string {
  return new TextDecoder(encoding).decode(sample, { stream: sample.length >= longSampleBytes })
}

export function isBroken(text: string): boolean {
  return count(text, /\ufffd/g) > count(text, beyondAscii) * fewErrors
}

export const beyondAscii = /[^\0-\x7f]/g

export function count(text: string, characters: RegExp): number {
  return text.match(characters)?.length ?? 0
}
