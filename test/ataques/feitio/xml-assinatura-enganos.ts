/** False statements in a signature: algorithms, references, keys, values, and additional content. */
import { createHmac } from 'node:crypto';
import {
  type Bent,
  DSIG,
  ENVELOPED,
  EXCLUSIVE,
  INCLUSIVE,
  type Party,
  SHA256,
  signedBy,
  transform,
  x509,
} from '../../support/signatures.ts';
import type { Ataque, Parte } from '../ataque.ts';
import { aceita, assinatura, caso, fim, HONESTA, infDPS, inicio, recusa, trocada } from './caso.ts';
import { dpsXml } from './mundo.ts';

const RECUSAR = 'Recusar: o perfil tem um só algoritmo de cada, uma só Reference, e um só documento que se lê dela.';
const NAO_CONFERE = 'Recusar: o que se recebeu não é o que foi assinado.';

export function enganos(provider: Party, namesake: Party): Ataque[] {
  const bent = (numero: number, how: Bent, party = provider): Parte => signedBy(dpsXml(numero), party, how);
  const key = provider.keys.publicKey.export({ type: 'spki', format: 'pem' });
  const reference = `<Reference URI=""><Transforms>${transform(EXCLUSIVE)}</Transforms><DigestMethod Algorithm="${SHA256}"></DigestMethod><DigestValue>AAAA</DigestValue></Reference>`;
  return [
    caso(
      'sem-assinatura',
      'O caminho mais curto: tirar a assinatura e ver se alguém exige.',
      [inicio, infDPS, fim],
      recusa('E901', 'Recusar: em produção só emite quem assina.'),
    ),
    caso(
      'assinatura-vazia',
      'Uma Signature sem nada dentro: quem só pergunta se há o elemento a aceita.',
      [inicio, infDPS, `<Signature xmlns="${DSIG}"/>`, fim],
      recusa('E902 E905', 'Recusar: sem valor não há assinatura.'),
    ),
    caso(
      'assinatura-sem-namespace',
      'Um elemento chamado Signature que não é de XML Signature.',
      trocada('assinatura', [`<Signature xmlns="${DSIG}">`, '<Signature>']),
      recusa('E901', 'Recusar: o nome sozinho não faz uma assinatura.'),
    ),
    caso(
      'assinatura-antes',
      'O leiaute põe Signature depois de infDPS; a ordem trocada passa na conferência e em nenhum esquema.',
      [inicio, assinatura, infDPS, fim],
      recusa('E902', 'Recusar, dizendo o lugar.', 'A Signature está antes de infDPS'),
    ),
    caso(
      'duas-assinaturas',
      'Uma assinatura boa ao lado de outra: cada leitor escolhe a sua.',
      [inicio, infDPS, assinatura, assinatura, fim],
      recusa('E902', RECUSAR, 'uma só Signature'),
    ),
    caso(
      'valor-trocado',
      'Um dígito do valor do serviço, depois de assinado.',
      trocada('infDPS', ['<vServ>1000.00<', '<vServ>1000.01<']),
      recusa('E902', NAO_CONFERE, 'O resumo de infDPS não confere'),
    ),
    caso(
      'resumo-refeito',
      'O conteúdo trocado e o resumo refeito, sem a chave: quem confere só o resumo aceita.',
      trocada('assinatura', ['<DigestValue>', '<DigestValue> ']),
      recusa('E902', NAO_CONFERE, 'O valor da assinatura não confere'),
    ),
    caso(
      'algoritmo-sha1-no-resumo',
      'SHA-1 no resumo, assinado por quem pode: colisões já se compram.',
      bent(50, { digestMethod: `${DSIG}sha1` }),
      recusa('E902', RECUSAR, 'SHA-1'),
    ),
    caso(
      'algoritmo-rsa-sha1',
      'RSA-SHA1 na assinatura: o perfil antigo, que ainda se usa.',
      bent(51, { signatureMethod: `${DSIG}rsa-sha1` }),
      recusa('E902', RECUSAR, 'RSA-SHA1'),
    ),
    caso(
      'algoritmo-hmac-com-a-chave-publica',
      'O método diz HMAC e o segredo é a chave pública: quem deixa o documento escolher o algoritmo confere com o que todos têm.',
      bent(52, { signatureMethod: `${DSIG}hmac-sha1`, value: (text) => createHmac('sha1', key).update(text).digest() }),
      recusa('E902', RECUSAR, 'HMAC'),
    ),
    caso(
      'algoritmo-nenhum',
      'Um método que ninguém conhece não pode valer por «nenhum».',
      bent(53, { signatureMethod: 'urn:none' }),
      recusa('E902', RECUSAR),
    ),
    caso(
      'c14n-inclusiva',
      'A forma inclusiva traz para o resumo o que está fora de infDPS, e muda quando se muda o envelope.',
      bent(54, { canonicalization: INCLUSIVE }),
      recusa('E902', RECUSAR, 'inclusiva'),
    ),
    caso(
      'c14n-com-comentarios',
      'A forma com comentários é outro algoritmo, ainda que sem comentários dê os mesmos bytes.',
      bent(55, { canonicalization: `${EXCLUSIVE}WithComments` }),
      recusa('E902', RECUSAR),
    ),
    caso(
      'transformacao-xpath',
      'Um filtro XPath tira do resumo o que quem ataca quiser mudar.',
      bent(56, {
        transforms:
          transform(ENVELOPED) +
          transform(
            'http://www.w3.org/TR/1999/REC-xpath-19991116',
            '<XPath>not(ancestor-or-self::*[local-name()="valores"])</XPath>',
          ) +
          transform(EXCLUSIVE),
      }),
      recusa('E902', RECUSAR, 'XPath'),
    ),
    caso(
      'transformacao-xslt',
      'Uma transformação XSLT é um programa de quem ataca, rodado por quem confere.',
      bent(57, {
        transforms: transform(
          'http://www.w3.org/TR/1999/REC-xslt-19991116',
          '<xsl:stylesheet xmlns:xsl="http://www.w3.org/1999/XSL/Transform" version="1.0"/>',
        ),
      }),
      recusa('E902', RECUSAR, 'XSLT'),
    ),
    caso(
      'transformacao-base64',
      'A transformação Base64 resume outra coisa que o elemento.',
      bent(58, { transforms: transform(`${DSIG}base64`) }),
      recusa('E902', RECUSAR, 'Base64'),
    ),
    caso(
      'transformacoes-nenhuma',
      'Sem transformações a forma canônica é a inclusiva, por omissão.',
      bent(59, { transforms: undefined }),
      recusa('E902', RECUSAR),
    ),
    caso(
      'transformacoes-mil',
      'Cada transformação é um passo que se paga: mil delas são mil.',
      bent(60, { transforms: transform(EXCLUSIVE).repeat(1_000) }),
      recusa('E902', RECUSAR),
    ),
    caso(
      'prefixos-incluidos',
      'InclusiveNamespaces muda o que a forma exclusiva resume.',
      bent(61, {
        transforms:
          transform(ENVELOPED) +
          transform(EXCLUSIVE, `<InclusiveNamespaces xmlns="${EXCLUSIVE}" PrefixList="#default"/>`),
      }),
      recusa('E902', RECUSAR, 'InclusiveNamespaces'),
    ),
    caso(
      'uri-vazia',
      'URI="" é o documento inteiro: o elemento que se lê deixa de ser o que se nomeia.',
      bent(62, { uri: '' }),
      recusa('E902', RECUSAR, 'URI vazia'),
    ),
    caso(
      'uri-ausente',
      'Sem URI, o que se assinou depende de quem lê.',
      bent(63, { uri: undefined }),
      recusa('E902', RECUSAR),
    ),
    caso(
      'uri-xpointer',
      'Um XPointer diz o mesmo elemento de outro modo, e cada programa o entende do seu.',
      bent(64, { uri: '#xpointer(/)' }),
      recusa('E902', RECUSAR),
    ),
    caso(
      'uri-externa',
      'Uma URI de fora faz quem confere buscar um endereço de quem ataca.',
      bent(65, { uri: 'http://127.0.0.1:1/dps.xml' }),
      recusa('E902', 'Recusar sem buscar nada na rede.'),
    ),
    caso(
      'uri-de-arquivo',
      'Uma URI de arquivo faz quem confere ler o próprio disco.',
      bent(66, { uri: 'file:///etc/passwd' }),
      recusa('E902', 'Recusar sem abrir arquivo algum.'),
    ),
    caso(
      'duas-references',
      'Uma segunda Reference, que ninguém confere, cobre o que se mudou.',
      bent(67, { signedInfo: (text) => text.replace('</SignedInfo>', `${reference}</SignedInfo>`) }),
      recusa('E902', RECUSAR, 'um só Reference'),
    ),
    caso(
      'manifest',
      'Um Manifest num Object: as suas referências são conferidas por quem quiser.',
      bent(68, { more: `<Object><Manifest>${reference}</Manifest></Object>` }),
      recusa('E902', RECUSAR, 'Object'),
    ),
    caso(
      'chave-sem-certificado',
      'Só a chave (KeyValue), sem certificado: qualquer um assina com a sua.',
      bent(69, {
        keyInfo:
          '<KeyInfo><KeyValue><RSAKeyValue><Modulus>AQAB</Modulus><Exponent>AQAB</Exponent></RSAKeyValue></KeyValue></KeyInfo>',
      }),
      recusa('E905', 'Recusar: quem assinou tem de estar num certificado.'),
    ),
    caso(
      'chave-por-endereco',
      'RetrievalMethod manda buscar a chave num endereço de quem ataca.',
      bent(70, {
        keyInfo:
          '<KeyInfo><RetrievalMethod URI="http://127.0.0.1:1/chave" Type="http://www.w3.org/2000/09/xmldsig#X509Data"/></KeyInfo>',
      }),
      recusa('E905', 'Recusar sem buscar nada na rede.'),
    ),
    caso(
      'certificado-alheio',
      'Assinado com uma chave, e o certificado é de outra: quem lê o nome sem conferir a chave acredita.',
      bent(71, { keyInfo: x509(provider.base64) }, namesake),
      recusa('E902', NAO_CONFERE, 'O valor da assinatura não confere'),
    ),
    caso(
      'dois-certificados',
      'Dois certificados em KeyInfo: um confere a assinatura, o outro diz o nome.',
      bent(
        72,
        {
          keyInfo: `<KeyInfo><X509Data><X509Certificate>${provider.base64}</X509Certificate><X509Certificate>${namesake.base64}</X509Certificate></X509Data></KeyInfo>`,
        },
        namesake,
      ),
      recusa('E902', RECUSAR),
    ),
    caso(
      'valor-de-zeros',
      'Um valor de zeros confere com uma chave de expoente mal lido.',
      bent(73, { value: () => Buffer.alloc(256) }),
      recusa('E902', NAO_CONFERE),
    ),
    caso(
      'valor-curto',
      'Um valor sem o último byte: quem completa com zeros aceita outra assinatura do mesmo documento.',
      bent(74, { value: () => Buffer.alloc(255, 1) }),
      recusa('E902', NAO_CONFERE),
    ),
    caso(
      'valor-em-base64-de-endereco',
      'O alfabeto de endereços (- e _) é outro texto dos mesmos bytes.',
      trocada('assinatura', ['<SignatureValue>', '<SignatureValue>-_']),
      recusa('E902', 'Recusar: uma assinatura tem um só texto.', 'não está em Base64'),
    ),
    caso(
      'comentario-no-valor',
      'Um comentário parte o texto: uns leem o valor inteiro, outros só o primeiro pedaço, e a forma canônica não o mostra.',
      trocada('infDPS', ['<vServ>1000.00<', '<vServ>1000<!-- -->.00<']),
      recusa('E902', 'Recusar: o que se lê não pode depender de quem lê.', 'comentário'),
    ),
    caso(
      'instrucao-no-valor',
      'Uma instrução de processamento parte o texto como um comentário.',
      trocada('infDPS', ['<vServ>1000.00<', '<vServ>1000<?x?>.00<']),
      recusa('E902', 'Recusar: o que se lê não pode depender de quem lê.', 'instrução de processamento'),
    ),
    caso(
      'texto-solto',
      'Texto ao lado do que foi assinado, que nenhuma assinatura cobre.',
      [inicio, infDPS, 'texto', assinatura, fim],
      recusa('E902', 'Recusar: tudo o que vem tem de ser coberto.', 'texto solto'),
    ),
    caso(
      'elemento-solto',
      'Um elemento ao lado do que foi assinado, que nenhuma assinatura cobre.',
      [inicio, infDPS, '<desconto>900.00</desconto>', assinatura, fim],
      recusa('E902', 'Recusar: tudo o que vem tem de ser coberto.', 'fora do que a assinatura cobre'),
    ),
    caso(
      'raiz-dentro-de-outra',
      'A DPS inteira, assinada, dentro de outra raiz.',
      [
        '<Envelope>',
        { parte: 'inicio', trocas: [['<?xml version="1.0" encoding="UTF-8"?>', '']] },
        infDPS,
        assinatura,
        fim,
        '</Envelope>',
      ],
      recusa('E902', 'Recusar: a raiz é DPS.'),
    ),
    caso(
      'entidade-na-assinatura',
      'Uma entidade própria dentro de SignedInfo.',
      [
        '<!DOCTYPE DPS [<!ENTITY v "x">]>',
        { parte: 'inicio', trocas: [['<?xml version="1.0" encoding="UTF-8"?>', '']] },
        infDPS,
        assinatura,
        fim,
      ],
      recusa('E201', 'Recusar todo DOCTYPE.', 'DOCTYPE'),
    ),
    caso(
      'repetida',
      'O mesmo documento, outra vez: a assinatura é boa, e a nota já existe.',
      HONESTA,
      recusa('E0014', 'Recusar: um número emite uma vez.'),
    ),
    caso(
      'assinada-com-prefixo',
      'Um documento honesto cuja assinatura usa o prefixo ds: não é um ataque.',
      bent(75, { prefix: 'ds' }),
      aceita('Aceitar: o prefixo é assunto de quem escreve.'),
    ),
    caso(
      'so-c14n-exclusiva',
      'Um documento honesto com só uma transformação, como a especificação admite.',
      bent(76, { transforms: transform(EXCLUSIVE) }),
      aceita('Aceitar: a especificação admite esta lista.'),
    ),
  ];
}
