/**
 * The character maps that PDFs in Chinese, Japanese and Korean name and expect every reader to have (ISO
 * 32000-1, 9.7.5.2), made from the platform's encodings. pdf.js needs one map from a text's codes to the
 * numbers of characters in a collection, and another from there to Unicode. Nothing is drawn here, so the
 * numbers do not matter: both maps number characters by Unicode. Only ASCII keeps its numbers of all
 * collections, 1 to 95, by which fonts give its widths.
 */

type CodeRange = readonly [bytes: number, first: number, last: number]

interface Encoding {
  ranges: readonly CodeRange[]
  /** Returns the character of a code in one of the ranges, or undefined. */
  characterOf(code: number, bytes: number): number | undefined
}

const unicode = (...ranges: CodeRange[]): Encoding => ({ ranges, characterOf: code => code })

const encodings: readonly (readonly [name: RegExp, Encoding])[] = [
  [/^Uni\w+-UCS2-/, unicode([2, 0, 0xffff])],
  [/^Uni\w+-UTF16-/, unicode([2, 0, 0xd7ff], [4, 0xd800dc00, 0xdbffdfff], [2, 0xe000, 0xffff])],
  [/^Uni\w+-UTF32-/, unicode([4, 0, 0x10ffff])],
  [/RKSJ/, legacy('shift_jis', [1, 0, 0x80], [2, 0x8140, 0x9ffc], [1, 0xa0, 0xdf], [2, 0xe040, 0xfcfc])],
  [/^(78-)?EUC-/, legacy('euc-jp', [1, 0, 0x80], [2, 0x8ea0, 0x8edf], [2, 0xa1a1, 0xfefe])],
  [/^(78-|Add-|Ext-)?[HV]$/, inSevenBits(legacy('euc-jp', [2, 0x2121, 0x7e7e]))],
  [/^(GBK|GB-EUC|GBpc)/, legacy('gbk', [1, 0, 0x80], [2, 0x8140, 0xfefe])],
  [/(B5|HKscs)/, legacy('big5', [1, 0, 0x80], [2, 0x8140, 0xfefe])],
  [/^KSC(ms|pc)?-/, legacy('euc-kr', [1, 0, 0x80], [2, 0x8141, 0xfefe])],
]

/** The last code with a number in a map of pdf.js. */
const lastNumber = 0xffff

/** Makes the maps for one document; pdf.js creates it and requests each map once. */
export class EastAsianMaps {
  #isNumberedHere = false

  async fetch({ filename }: { filename: string }): Promise<Uint8Array> {
    const map = filename.endsWith('-UCS2') ? this.#toUnicode() : this.#fromCodes(filename)
    return Buffer.from(map)
  }

  #fromCodes(name: string): string {
    const encoding = encodings.find(([names]) => names.test(name))?.[1]
    if (encoding === undefined) throw new Error(`The character map ${name} is not known.`)
    this.#isNumberedHere = true
    return mapFrom(encoding, name.endsWith('V'))
  }

  /** Throws for a font whose own codes are the collection's numbers, which it would misread. */
  #toUnicode(): string {
    if (!this.#isNumberedHere) throw new Error('The numbers of characters in collections are not known.')
    return `${section('codespacerange', ['<0000> <ffff>'])}${section('bfrange', [
      '<0001> <005f> <0020>',
      '<0080> <ffff> <0080>',
    ])}`
  }
}

function legacy(label: string, ...ranges: CodeRange[]): Encoding {
  const decoder = new TextDecoder(label)
  return {
    ranges,
    characterOf(code, bytes) {
      const text = decoder.decode(Buffer.from(hex(code, bytes), 'hex'))
      const character = text.codePointAt(0)
      return text.length === 1 && character !== 0xfffd ? character : undefined
    },
  }
}

/** Returns the encoding's codes of two bytes, without the bit that distinguishes them from ASCII. */
function inSevenBits({ ranges, characterOf }: Encoding): Encoding {
  return { ranges, characterOf: (code, bytes) => characterOf(code + 0x8080, bytes) }
}

function mapFrom({ ranges, characterOf }: Encoding, isVertical: boolean): string {
  const numbered = ranges.flatMap(([bytes, first, last]) =>
    Array.from({ length: Math.min(last, lastNumber) - first + 1 }, (_, index) => {
      const character = characterOf(first + index, bytes)
      if (character === undefined || character > lastNumber) return []
      return `<${hex(first + index, bytes)}> ${numberOf(character)}`
    }).flat(),
  )
  const spaces = ranges.map(([bytes, first, last]) => `<${hex(first, bytes)}> <${hex(last, bytes)}>`)
  return `/WMode ${isVertical ? 1 : 0} def\n${section('codespacerange', spaces)}${section('cidchar', numbered)}`
}

function numberOf(character: number): number {
  return character >= 0x20 && character <= 0x7e ? character - 0x1f : character
}

function section(kind: string, lines: readonly string[]): string {
  return `begin${kind}\n${lines.join('\n')}\nend${kind}\n`
}

function hex(code: number, bytes: number): string {
  return code.toString(16).padStart(bytes * 2, '0')
}
