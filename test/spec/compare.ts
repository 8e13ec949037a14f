/** What the service has, held against what the specification lists: functions of values, so that they are tested too. */

/** A route as the server registered it, with `:name` parameters. */
interface RegisteredRoute {
  method: string
  url: string
  config: { limit?: unknown }
}

interface DocumentedRoute {
  /** Method and path with `{name}` placeholders; a last segment `*` stands for everything below. */
  route: string
  /** Whether the route must be there; otherwise it must not be. */
  built: boolean
  /** The request budget it must count against; left out where that does not matter. */
  limit?: string
}

interface RouteDifferences {
  /** Built according to the lists, but no route. */
  missing: string[]
  /** A route, but still listed as not built. */
  early: string[]
  /** A route that no list names. */
  undocumented: string[]
  wrongLimit: string[]
}

/** The path of a row's route: the query parameters that the specification writes into it are cut off. */
export function routeOf(rowId: string): string {
  return rowId.replace(/\?.*$/, '')
}

/** `GET /api/agents/:id/` is `GET /api/agents/{id}`. */
export function documentedForm({ method, url }: Pick<RegisteredRoute, 'method' | 'url'>): string {
  const path = url.replace(/:(\w+)/g, '{$1}').replace(/\/+$/, '')
  return `${method} ${path === '' ? '/' : path}`
}

/** HEAD comes with every GET and OPTIONS with CORS, so neither counts. */
export function compareRoutes(
  documented: readonly DocumentedRoute[],
  routes: readonly RegisteredRoute[],
): RouteDifferences {
  const registered = new Map(
    routes
      .filter(({ method }) => method !== 'HEAD' && method !== 'OPTIONS')
      .map(route => [documentedForm(route), route.config.limit]),
  )
  const names = [...registered.keys()]
  const hasRoute = ({ route }: DocumentedRoute) => names.some(name => covers(route, name))
  return {
    missing: documented.filter(entry => entry.built && !hasRoute(entry)).map(({ route }) => route),
    early: documented.filter(entry => !entry.built && hasRoute(entry)).map(({ route }) => route),
    undocumented: names.filter(name => !documented.some(({ route }) => covers(route, name))),
    wrongLimit: documented
      .filter(({ route, limit }) => limit !== undefined && registered.has(route))
      .filter(({ route, limit }) => registered.get(route) !== limit)
      .map(({ route, limit }) => `${route} counts as ${String(registered.get(route))}, not as ${limit}`),
  }
}

function covers(documented: string, registered: string): boolean {
  return documented.endsWith('/*')
    ? registered.startsWith(documented.slice(0, -1))
    : registered === documented
}

interface MarkerSets {
  /** Markers of everything in a built area. */
  expected: readonly string[]
  /** Those among them that wait to be built. */
  pending: ReadonlySet<string>
  /** Markers that tests name in their titles. */
  named: ReadonlySet<string>
}

/** `untested`: built, but no test names it. `stale`: listed as not built, but a test names it. */
export function compareMarkers({ expected, pending, named }: MarkerSets): {
  untested: string[]
  stale: string[]
} {
  return {
    untested: expected.filter(marker => !pending.has(marker) && !named.has(marker)),
    stale: [...pending].filter(marker => named.has(marker)),
  }
}
