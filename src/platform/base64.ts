/** The bytes of a base64 text, or of a data URL in base64; undefined for any other text, of which Node would skip the rest. */
export function bytesOfBase64(text: string): Buffer | undefined {
  const base64 = text.replace(/^data:[^,]{0,200};base64,/i, '')
  const bytes = Buffer.from(base64, 'base64')
  const isWhole = bytes.length > 0 && bytes.length >= Math.floor((base64.length * 3) / 4) - 2
  return isWhole && !base64.startsWith('data:') ? bytes : undefined
}
