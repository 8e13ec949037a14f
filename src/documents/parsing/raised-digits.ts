const raised = new Map(
  [...'0123456789+-−–'].map((sign, index) => [sign, [...'⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻'][index] ?? sign]),
)

/**
 * Returns a number above the line right behind another, or behind a bracket, in raised digits: without them,
 * 10 to the power of 6 would read 106. Search treats them like usual ones. Returns other text unchanged.
 */
export function raisedDigits(text: string, before: string): string {
  const isNumber = /[\d)]/.test(before.at(-1) ?? '') && /^[-+−–]?\d+\s*$/.test(text)
  return isNumber ? Array.from(text, sign => raised.get(sign) ?? sign).join('') : text
}
