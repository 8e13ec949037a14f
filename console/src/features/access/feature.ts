import type { Feature } from '#console/shell/feature.ts'

const feature: Feature = {
  views: [
    {
      path: 'people',
      title: { en: 'People and keys', de: 'Personen und Schlüssel' },
      needs: 'read',
      load: () => import('./people.tsx'),
      rail: { group: 'setUp', order: 3, icon: 'shield' },
    },
    {
      path: 'account',
      title: { en: 'Your account', de: 'Ihr Konto' },
      needs: 'any',
      load: () => import('./account.tsx'),
    },
  ],
  commands: [
    {
      id: 'account',
      title: { en: 'Your account: keys and sessions', de: 'Ihr Konto: Schlüssel und Sitzungen' },
      icon: 'key',
      needs: 'any',
      to: 'account',
    },
  ],
}
export default feature
