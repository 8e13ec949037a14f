import { describe, expect, it } from 'vitest'
import { nameTools } from './tool-name.ts'

const namesOf = (...names: string[]) => nameTools(names.map(name => ({ name }))).map(({ name }) => name)

describe('the names of tools', () => {
  it('stay where every model service takes them', () => {
    expect(namesOf('get_weather', 'list-items', 'getUser2')).toEqual([
      'get_weather',
      'list-items',
      'getUser2',
    ])
  })

  it('lose what a service refuses', () => {
    expect(namesOf('Größe holen!', '-flag', '2fa check', '工具', 'x'.repeat(80))).toEqual([
      'Gro_e_holen',
      'flag',
      '_2fa_check',
      'tool',
      'x'.repeat(64),
    ])
  })

  it('are told apart, and the first keeps its own', () => {
    expect(namesOf('pay', 'pay', 'pay_2', 'pay')).toEqual(['pay', 'pay_2', 'pay_2_2', 'pay_3'])
  })

  it('are found at once for thousands that are alike', () => {
    const before = process.cpuUsage()
    const names = namesOf(...Array.from({ length: 20_000 }, () => '工具'))
    expect(new Set(names).size).toBe(20_000)
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(3000)
  })
})
