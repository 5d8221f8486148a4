/** A CMS that names another signer, or uses a misleading algorithm. */
import {
  constants,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  privateEncrypt,
  sign,
} from 'node:crypto';
import { der } from '../../../src/documents/asn1.ts';
import { rsaOfBlock } from '../../support/signatures.ts';
import type { Ataque, Veredito } from '../ataque.ts';
import { recusa } from './caso.ts';
import { dobradoPor, feito, type Gente, NOT, TAKEN } from './cms-gente.ts';
import * as e from './emissao.ts';
import { type Emitido, emitir } from './emissao.ts';
import * as c from './envelope.ts';
import { cmsDe, OID } from './envelope.ts';

export function quemAssina({ raiz, dona, outra, alheia }: Gente): Ataque[] {
  const com = dobradoPor(dona);
  const attributeCertificate = der.context(1, ...[der.integer(1), der.null()]);
  return [
    com(
      'sem-certificado',
      'O certificado de quem assinou não vem.',
      { certificados: [] },
      NOT('Recusar: não se sabe quem assinou.'),
    ),
    com(
      'so-o-da-autoridade',
      'Vem só o certificado da autoridade.',
      { certificados: [raiz.der] },
      NOT('Recusar: quem o SignerInfo nomeia não veio.'),
    ),
    com(
      'chave-alheia',
      'O certificado é o do prestador, e quem assinou foi outra chave.',
      { chave: alheia.chave },
      NOT('Recusar: a assinatura não é da chave do certificado.', 'outra chave'),
    ),
    com(
      'chave-alheia-com-o-certificado-dela',
      'O SignerInfo nomeia o prestador, e vêm os dois certificados; a assinatura confere com o outro.',
      { chave: alheia.chave, certificados: [alheia.der, dona.der] },
      NOT('Recusar: vale o certificado que o SignerInfo nomeia.'),
    ),
    feito(
      'nomeia-o-alheio',
      'Vem o certificado do prestador em primeiro, e o SignerInfo nomeia o de outra empresa, que assinou.',
      (corpo) => cmsDe(corpo, alheia, { certificados: [dona.der, alheia.der] }),
      recusa('E9007', 'Recusar: quem assinou não é o prestador.', undefined, 401),
    ),
    feito(
      'de-outra-empresa',
      'Outra empresa assina a nota do prestador.',
      (corpo) => cmsDe(corpo, alheia),
      recusa('E9007', 'Recusar: quem assinou não é o prestador.', undefined, 401),
    ),
    com(
      'dois-que-cabem',
      'O identificador da chave cabe em dois certificados: não se sabe sob qual se assinou.',
      {
        sid: der.contextPrimitive(0, c.idDaChave(dona.chave)),
        versaoDoSignatario: 3,
        versao: 3,
        certificados: [dona.der, outra.der],
      },
      NOT('Recusar: fica em aberto quem assinou.', 'mais de um'),
    ),
    com(
      'duas-assinaturas',
      'Duas assinaturas, a de uma empresa alheia e a do prestador: qual responde?',
      (corpo) => ({ certificados: [dona.der, alheia.der], signatarios: (um) => [um, signatarioDe(corpo, alheia)] }),
      NOT('Recusar: uma nota tem um responsável.', '2 assinaturas'),
    ),
    com(
      'nenhuma-assinatura',
      'Só certificados, sem assinatura alguma: quem confere todas as que vêm confere zero.',
      { signatarios: () => [] },
      NOT('Recusar: ninguém assinou.'),
    ),
    com(
      'certificado-alheio-ao-lado',
      'Um certificado honesto de outra empresa vem ao lado.',
      { certificados: [dona.der, alheia.der] },
      TAKEN('Aceitar: não é o nomeado, e não muda nada.'),
    ),
    com(
      'companheiro-ilegivel',
      'Ao lado vem uma SEQUENCE que não é um certificado: outro leitor pode lê-la como algum.',
      { certificados: [dona.der, der.sequence(der.integer(1))] },
      NOT('Recusar: nada do que vem fica sem ser lido.', 'certificados que acompanham o de quem assinou não serve'),
    ),
    com(
      'certificado-de-atributo',
      'Ao lado vem um certificado de atributo (CertificateChoices, 1), que diz o que o titular pode.',
      { certificados: [dona.der, attributeCertificate] },
      NOT('Recusar: o perfil só tem certificados X.509.', 'certificado de atributo'),
    ),
    com(
      'lista-ilegivel',
      'Entre as listas de revogados vem o que não é lista.',
      { listas: [der.sequence(der.integer(1))] },
      NOT('Recusar: nada do que vem fica sem ser lido.'),
    ),
    com(
      'lista-do-remetente',
      'O remetente traz uma lista de revogados vazia, para que o dele não conste de nenhuma.',
      { listas: [pemBytes(e.listaDe(raiz, []))] },
      TAKEN('Aceitar, e não lhe perguntar nada: as listas que valem são as do município.'),
    ),
  ];
}

const pemBytes = (pem: string): Buffer => Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');

/** The SignerInfo of a signer, alone. */
function signatarioDe(corpo: Buffer, quem: Emitido): Buffer {
  let made: Buffer | undefined;
  cmsDe(corpo, quem, {
    signatarios: (um) => {
      made = um;
      return [um];
    },
  });
  return made!;
}

/** EMSA-PKCS1-v1_5 of the digest, with bytes behind it in place of padding. */
function bloco(message: Buffer, filling: number, behind: number): Buffer {
  const info = der.sequence(c.idDe(OID.sha256), der.octetString(hash('sha256', message, 'buffer')));
  return Buffer.concat([
    Buffer.from([0, 1]),
    Buffer.alloc(filling, 0xff),
    Buffer.from([0]),
    info,
    Buffer.alloc(behind, 0x5a),
  ]);
}

export function algoritmos({ raiz, dona }: Gente): Ataque[] {
  const com = dobradoPor(dona);
  const raw = (key: KeyObject) => (message: Buffer) =>
    privateEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, hash('sha256', message, 'buffer'));
  const { privateKey: curva } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const daCurva = emitir({ por: raiz, chave: curva });
  const WEAK = (what: string): Veredito => NOT(`Recusar: com ${what} se fazem dois corpos do mesmo resumo.`, what);
  const VALUE = 'Recusar: a assinatura é da forma inteira da RFC 8017 (8.2.2).';
  const bits = createPublicKey(dona.chave).asymmetricKeyDetails!.modulusLength! / 8;
  const info = 51;
  return [
    com('sha-1', 'O resumo é SHA-1.', { resumo: 'sha1' }, WEAK('SHA-1')),
    com('md5', 'O resumo é MD5.', { resumo: 'md5' }, WEAK('MD5')),
    com(
      'sha-224',
      'O resumo é SHA-224, que o perfil não tem.',
      { resumo: 'sha224' },
      NOT('Recusar: o perfil não o tem.', 'SHA-224'),
    ),
    com(
      'rsa-com-sha-1',
      'O resumo é SHA-256, e o algoritmo da assinatura RSA com SHA-1.',
      { assinaturaId: c.idDe(OID.rsaSha1), valor: (bytes) => sign('sha1', bytes, dona.chave) },
      NOT('Recusar: vale o mais fraco dos dois.', 'SHA-1'),
    ),
    com(
      'resumos-que-divergem',
      'O SignerInfo diz SHA-256 no resumo e SHA-512 na assinatura.',
      { assinaturaId: c.idDe(OID.rsaSha512), valor: (bytes) => sign('sha512', bytes, dona.chave) },
      NOT('Recusar: dizem coisas diferentes.'),
    ),
    com(
      'resumo-fora-da-lista',
      'digestAlgorithms não traz o resumo que o SignerInfo usa.',
      { resumosIds: [c.idDe(OID.sha512)] },
      NOT('Recusar: a lista e o SignerInfo divergem.', 'digestAlgorithms'),
    ),
    com(
      'assinado-com-outro-resumo',
      'A assinatura foi feita com SHA-1, e o SignerInfo diz SHA-256.',
      { valor: (bytes) => sign('sha1', bytes, dona.chave) },
      NOT('Recusar: vale o que o SignerInfo diz.'),
    ),
    com(
      'rsa-pss',
      'RSA-PSS, com os parâmetros que querem dizer SHA-1.',
      {
        assinaturaId: der.sequence(der.oid(OID.rsaPss), der.sequence()),
        valor: (bytes) => sign('sha256', bytes, { key: dona.chave, padding: constants.RSA_PKCS1_PSS_PADDING }),
      },
      NOT('Recusar: o perfil não o tem.', 'RSA-PSS'),
    ),
    feito(
      'curva-eliptica',
      'Uma chave de curva elíptica, de um certificado honesto.',
      (corpo) => cmsDe(corpo, daCurva, { assinaturaId: der.sequence(der.oid('1.2.840.10045.4.3.2')) }),
      NOT('Recusar: o perfil pede RSA.', 'ECDSA'),
    ),
    feito(
      'curva-dita-rsa',
      'A chave é de curva elíptica, e o SignerInfo diz RSA.',
      (corpo) => cmsDe(corpo, daCurva),
      NOT('Recusar: a chave não é do algoritmo.', 'não é RSA'),
    ),
    com(
      'parametros-a-mais',
      'O resumo traz parâmetros, que SHA-256 não tem (RFC 5754).',
      { resumoId: c.idDe(OID.sha256, der.octetString(Buffer.from('x'))) },
      NOT('Recusar: seria uma instrução que ninguém lê.'),
    ),
    com(
      'sem-nome-do-resumo',
      'A chave assinou o resumo nu, sem o nome do algoritmo (DigestInfo).',
      { valor: raw(dona.chave) },
      NOT(VALUE, 'DigestInfo'),
    ),
    com(
      'bytes-atras-do-resumo',
      'O enchimento é curto, e atrás do resumo há bytes livres: com expoente 3 forja-se assim sem a chave (CVE-2006-4339).',
      { valor: (bytes) => rsaOfBlock(dona.chave, bloco(bytes, 8, bits - 3 - 8 - info)) },
      NOT(VALUE),
    ),
    com('valor-de-zeros', 'O valor da assinatura são zeros.', { valor: () => Buffer.alloc(bits) }, NOT(VALUE)),
    com('valor-vazio', 'O valor da assinatura não tem bytes.', { valor: () => Buffer.alloc(0) }, NOT(VALUE)),
    com(
      'valor-comprido',
      'Um byte zero à frente do valor: o mesmo número, mais comprido que a chave.',
      { valor: (bytes) => Buffer.concat([Buffer.from([0]), sign('sha256', bytes, dona.chave)]) },
      NOT(VALUE),
    ),
  ];
}
