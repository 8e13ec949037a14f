/** OpenAPI path templates: a name in braces is a placeholder, with any characters in it. */

const place = /(\{[^{}/]+\})/

/** The text around the placeholders, and at every odd index a placeholder with its braces. */
export function splitAtNames(template: string): string[] {
  return template.split(place)
}

/** Each name once, in the order of the path. */
export function namesInPath(template: string): string[] {
  const places = splitAtNames(template).filter((_, index) => index % 2 === 1)
  return [...new Set(places.map(one => one.slice(1, -1)))]
}
