/** A door of the service behind TLS, under a certificate of a test's own authority. */

import type { World } from '../../src/base/world/world.ts';
import { type Authority, pemOf, serverCertificate } from '../../src/documents/pki.ts';
import { createRestDoor, type RestDoorOptions } from '../../src/doors/rest/door.ts';
import { onEnd } from './cleanup.ts';
import { DECADES, type Party } from './signatures.ts';

/** `tls`: the credentials for another server of the same name. */
export async function secureDoor(
  world: World,
  by: Authority,
  { keys, keyPem }: Party,
  options: Partial<RestDoorOptions> = {},
) {
  const der = serverCertificate(by, { dns: ['localhost'], ips: ['127.0.0.1'] }, keys.publicKey, DECADES);
  const tls = { cert: pemOf('CERTIFICATE', der), key: keyPem };
  const defaults = { host: '127.0.0.1', port: 0, trustProxy: false, accessLog: false };
  const door = await createRestDoor(world, { ...defaults, tls, ...options });
  onEnd(() => door.close());
  return { address: door.address, tls };
}
