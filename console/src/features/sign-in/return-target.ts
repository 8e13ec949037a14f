/** Returns the target after the sign-in: the path in `return_to` if the service accepts it, else `/`. */
export function returnTarget(search: string, origin: string): string {
  const wanted = new URLSearchParams(search).get('return_to') ?? '/'
  const url = URL.parse(wanted, origin)
  if (
    wanted.length > 2000 ||
    !wanted.startsWith('/') ||
    url?.origin !== origin ||
    url.pathname.startsWith('//')
  )
    return '/'
  return url.pathname + url.search + url.hash
}
