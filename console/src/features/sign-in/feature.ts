import type { Feature } from '#console/shell/feature.ts'

const feature: Feature = {
  views: [],
  pages: [{ path: '/sign-in', load: () => import('./sign-in.tsx') }],
}
export default feature
