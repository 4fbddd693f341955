CREATE TABLE records (
    id TEXT PRIMARY KEY, seq BIGINT NOT NULL UNIQUE, at BIGINT NOT NULL, key_id TEXT, model TEXT NOT NULL,
    outcome TEXT NOT NULL, terms TEXT NOT NULL, sealed TEXT NOT NULL, hash TEXT NOT NULL, erased_at BIGINT
);
CREATE INDEX records_at ON records (at);
CREATE TABLE personal (
    record_id TEXT PRIMARY KEY, subject TEXT, salt TEXT NOT NULL, request TEXT NOT NULL, start TEXT NOT NULL,
    plans TEXT NOT NULL, summary TEXT, answer_sha256 TEXT NOT NULL, plans_sha256 TEXT NOT NULL
);
CREATE INDEX personal_subject ON personal (subject);
CREATE TABLE begun (id TEXT PRIMARY KEY, at BIGINT NOT NULL, model TEXT NOT NULL);
CREATE TABLE chain (
    place INTEGER PRIMARY KEY CHECK (place = 1), first_seq BIGINT NOT NULL, first_hash TEXT NOT NULL,
    last_seq BIGINT NOT NULL, last_hash TEXT NOT NULL
);
CREATE TABLE schema_version (version INTEGER NOT NULL);
INSERT INTO schema_version VALUES (1);
INSERT INTO records VALUES ('00000000000000000000000000000001', 1, 1800000000000, NULL, 'hcv', 'found', '{"limits": {}}', '{"answer":{"sent":1,"stopped_by":null},"at":1800000000000,"format":1,"id":"00000000000000000000000000000001","key":null,"model":{"name":"hcv","version":"1.0.0"},"outcome":"found","personal":{"answer":"b3079827d5f6d1390f6cccc0c65a8e70d915d1c99e20d9afc0db68d8c837d105","plans":"5f4d77ff39063508f05bd4c33139bb6e9d08dca10cd23f090c16ec7c81d55062","request":"11d0a63698d5d15faae435a56d029a95dbfb6774120d80776f426eba257cf2da","subject":"40d1d655954f2163163b5e268db046978d8f88e2df92ee9d3aa6da1e46772a8e"},"previous":"0000000000000000000000000000000000000000000000000000000000000000","seq":1,"terms":"a9f780f794964d56455af3bba1dce7ab33db36e0ecfe1d937fd1eac65fc2eebb"}', '12545ec5d4b9deea54d73e5b6d25435a9e5b36893d9adf76836ce1b58f66a44e', NULL);
INSERT INTO records VALUES ('00000000000000000000000000000002', 2, 1800000000000, NULL, 'hcv', 'found', '{"limits": {}}', '{"answer":{"sent":1,"stopped_by":null},"at":1800000000000,"format":1,"id":"00000000000000000000000000000002","key":null,"model":{"name":"hcv","version":"1.0.0"},"outcome":"found","personal":{"answer":"b3079827d5f6d1390f6cccc0c65a8e70d915d1c99e20d9afc0db68d8c837d105","plans":"5f4d77ff39063508f05bd4c33139bb6e9d08dca10cd23f090c16ec7c81d55062","request":"11d0a63698d5d15faae435a56d029a95dbfb6774120d80776f426eba257cf2da","subject":"2b862d77c80f833e9d42c1c611a149adf6d76ab49aee271b42e5e8d0d8307fb9"},"previous":"12545ec5d4b9deea54d73e5b6d25435a9e5b36893d9adf76836ce1b58f66a44e","seq":2,"terms":"a9f780f794964d56455af3bba1dce7ab33db36e0ecfe1d937fd1eac65fc2eebb"}', '75efd3b1b48abae0fdbdf0df03ece7bb622bf7ccf87eeba9bd6bc8579a5a4187', NULL);
INSERT INTO personal VALUES ('00000000000000000000000000000001', 'p-1', '5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a', '{"instance":{"ALT":41.5}}', '{"type":"start"}', '["{\"rank\":1}"]', '{"count":1}', 'd5a4e45c262d2a9f56057b01e5e9147fd63b8aa8716152045541f565e253987a', '02ff62664755a0d1cbbb099a281a697e0f9bc197fce7e046947665f29eba2107');
INSERT INTO personal VALUES ('00000000000000000000000000000002', 'p-2', '5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a', '{"instance":{"ALT":41.5}}', '{"type":"start"}', '["{\"rank\":1}"]', '{"count":1}', 'd5a4e45c262d2a9f56057b01e5e9147fd63b8aa8716152045541f565e253987a', '02ff62664755a0d1cbbb099a281a697e0f9bc197fce7e046947665f29eba2107');
INSERT INTO chain VALUES (1, 0, '0000000000000000000000000000000000000000000000000000000000000000', 2, '75efd3b1b48abae0fdbdf0df03ece7bb622bf7ccf87eeba9bd6bc8579a5a4187')
