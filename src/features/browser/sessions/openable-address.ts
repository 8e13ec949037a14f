/** Whether a session may show what is at the address: the web, through the guard, and nothing of the machine. */
export function isOpenable(address: string): boolean {
  const url = URL.parse(address)
  return url !== null && (/^https?:$/.test(url.protocol) || url.href === 'about:blank')
}
