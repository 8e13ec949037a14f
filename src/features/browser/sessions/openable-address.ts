/** True if a session may open the address: only the web, through the guard, not the machine. */
export function isOpenable(address: string): boolean {
  const url = URL.parse(address)
  return url !== null && (/^https?:$/.test(url.protocol) || url.href === 'about:blank')
}
