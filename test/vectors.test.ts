import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { describeCar } from './vectors/car.ts'
import { describeCid } from './vectors/cid.ts'
import { describeCodec } from './vectors/codec.ts'
import { describeCsag } from './vectors/csag.ts'
import { describeHrc } from './vectors/hrc.ts'
import { describeJson } from './vectors/json.ts'
import { describeLanes } from './vectors/lanes.ts'
import {
  describeDidKey,
  describeDsse,
  describeEd25519,
  describeHttpSignatures,
  describeJwsEddsa,
  describeOpenSSHKeys,
  describeVcDi,
} from './vectors/keys.ts'
import { describeAllowedSigners, describeSshSignatures } from './vectors/ssh.ts'
import { describeTuf } from './vectors/tuf.ts'
import { describeTurns } from './vectors/turns.ts'

const folder = process.env['HSTORE_VECTORS']

// Vectors of others are not shipped with hstore: the variable names the folder that holds them.
if (folder === undefined) {
  describe('vectors of others', () => {
    it('are not run, for HSTORE_VECTORS names no folder', () => {
      console.log('vectors: 0 run, none given')
      expect(process.env['HSTORE_VECTORS']).toBeUndefined()
    })
  })
} else {
  let run = 0
  afterEach(() => {
    run += 1
  })
  afterAll(() => console.log(`vectors: ${run} run`))
  describeCodec(folder)
  describeCid(folder)
  describeJson(folder)
  describeCar(folder)
  describeCsag(folder)
  describeTurns(folder)
  describeHrc(folder)
  describeLanes(folder)
  describeEd25519(folder)
  describeDidKey(folder)
  describeOpenSSHKeys(folder)
  describeAllowedSigners(folder)
  describeSshSignatures(folder)
  describeDsse(folder)
  describeJwsEddsa(folder)
  describeHttpSignatures(folder)
  describeVcDi(folder)
  describeTuf(folder)
}
