/** Returns the bytes of base64 or a data URL; undefined for other text, which Node would read in part. */
export function bytesOfBase64(text: string): Buffer<ArrayBuffer> | undefined {
  const base64 = text.replace(/^data:[^,]{0,200};base64,/i, '')
  const bytes = Buffer.from(base64, 'base64')
  const isWhole = bytes.length > 0 && bytes.length >= Math.floor((base64.length * 3) / 4) - 2
  return isWhole && !base64.startsWith('data:') ? bytes : undefined
}
