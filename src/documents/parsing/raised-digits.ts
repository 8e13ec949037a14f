const raised = new Map(
  [...'0123456789+-−–'].map((sign, index) => [sign, [...'⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻'][index] ?? sign]),
)

/**
 * A number that stands above the line right behind another, or behind a bracket, in digits that do so by themselves: without
 * them, 10 to the power of 6 would read 106. Search knows these digits as the usual ones. Any other text is given back.
 */
export function raisedDigits(text: string, before: string): string {
  const isNumber = /[\d)]/.test(before.at(-1) ?? '') && /^[-+−–]?\d+\s*$/.test(text)
  return isNumber ? Array.from(text, sign => raised.get(sign) ?? sign).join('') : text
}
