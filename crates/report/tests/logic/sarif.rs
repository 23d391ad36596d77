//! SARIF 2.1.0.

use report::RuleInfo;
use serde_json::Value;
use stack::Verdict;

use crate::made::sample::{array, broken, document, hostile, image, same, shifted_disk};
use crate::made::whole::sarif;

fn rules() -> [RuleInfo<'static>; 2] {
    [
        RuleInfo {
            code: "ST301",
            title: "data does not start on a full stripe",
            why: "Writes of whole stripes then read parity first.",
            help_uri: None,
        },
        RuleInfo {
            code: "ST101",
            title: "partition start is not on a physical sector",
            why: "Every 4 KiB write then touches two sectors and covers neither.",
            help_uri: Some("https://example.org/st101".to_owned()),
        },
    ]
}

#[test]
fn a_finding_is_a_result_at_its_layer() {
    same(
        &sarif(&document(vec![shifted_disk()]), &rules()),
        r#"{
  "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
  "version": "2.1.0",
  "runs": [
    {
      "tool": {
        "driver": {
          "name": "straddle",
          "version": "0.1.0",
          "rules": [
            {
              "id": "ST301",
              "shortDescription": {
                "text": "data does not start on a full stripe"
              },
              "fullDescription": {
                "text": "Writes of whole stripes then read parity first."
              },
              "help": {
                "text": "Writes of whole stripes then read parity first.\n\nMore: straddle explain ST301"
              }
            },
            {
              "id": "ST101",
              "shortDescription": {
                "text": "partition start is not on a physical sector"
              },
              "fullDescription": {
                "text": "Every 4 KiB write then touches two sectors and covers neither."
              },
              "help": {
                "text": "Every 4 KiB write then touches two sectors and covers neither.\n\nMore: straddle explain ST101"
              },
              "helpUri": "https://example.org/st101"
            }
          ]
        }
      },
      "results": [
        {
          "ruleId": "ST101",
          "level": "error",
          "message": {
            "text": "sda1: partition start is not on a physical sector\nCost: a 4 KiB write reads 2 and writes 2 sectors instead of writing 1: about 3 turns instead of 1\nFix: straddle plan /dev/sda\nFix: empty disk: parted -a none /dev/sda mkpart data 126MiB 50%"
          },
          "locations": [
            {
              "physicalLocation": {
                "artifactLocation": {
                  "uri": "file:///dev/sda"
                },
                "region": {
                  "startLine": 1
                }
              },
              "logicalLocations": [
                {
                  "name": "sda1",
                  "fullyQualifiedName": "/dev/sda::sda1",
                  "kind": "partition"
                }
              ]
            }
          ],
          "partialFingerprints": {
            "straddle/v1": "ST101 /dev/sda sda1"
          },
          "properties": {
            "evidence": [
              "sda1 starts at 131073536 B",
              "131073536 mod 4096 = 1536"
            ],
            "cost": {
              "write_bytes": 4096,
              "reads": 2,
              "writes": 2,
              "rmws": 2,
              "parity_updates": 0,
              "aligned_reads": 0,
              "aligned_writes": 1,
              "sentence": "a 4 KiB write reads 2 and writes 2 sectors instead of writing 1: about 3 turns instead of 1"
            },
            "remedies": [
              "straddle plan /dev/sda",
              "empty disk: parted -a none /dev/sda mkpart data 126MiB 50%"
            ]
          },
          "ruleIndex": 1
        }
      ],
      "invocations": [
        {
          "executionSuccessful": true,
          "toolExecutionNotifications": []
        }
      ]
    }
  ]
}
"#,
    );
}

#[test]
fn levels_rules_and_notifications_follow_the_document() {
    let text = sarif(&document(vec![array(), broken(), hostile()]), &rules());
    let log: Value = serde_json::from_str(&text).expect("valid JSON");
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    let levels: Vec<&str> = results.iter().map(|r| r["level"].as_str().unwrap()).collect();
    assert_eq!(levels, ["error", "warning", "note", "error"]);
    for result in results {
        let index = &result["ruleIndex"];
        match index.as_u64() {
            Some(index) => {
                let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
                let rule = &rules[usize::try_from(index).unwrap()];
                assert_eq!(rule["id"], result["ruleId"]);
            }
            None => assert_eq!(result["ruleId"], "ST302"),
        }
        let uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str();
        assert!(uri.unwrap().is_ascii());
        assert!(!uri.unwrap().contains(['<', '"', '\\', ' ']));
    }
    let invocation = &run["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let notification = &invocation["toolExecutionNotifications"][0];
    assert_eq!(notification["level"], "error");
    let location = &notification["locations"][0]["physicalLocation"]["artifactLocation"];
    assert_eq!(location["uri"], "file:///dev/sdz");
}

#[test]
fn an_unknown_target_is_a_notification_that_says_why_and_fails_nothing() {
    let mut unknown = image("noise.raw");
    unknown.verdict = Verdict::Unknown;
    unknown.layers[0].verdict = Verdict::Unknown;
    unknown.layers[0].reason = "nothing recognized".to_owned();
    let text = sarif(&document(vec![unknown, image("good.raw")]), &rules());
    let log: Value = serde_json::from_str(&text).expect("valid JSON");
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], true);
    let [told] = &invocation["toolExecutionNotifications"].as_array().unwrap()[..] else {
        panic!("one of the two is unknown: {invocation}")
    };
    assert_eq!(told["level"], "warning");
    assert_eq!(told["message"]["text"], "unknown: noise.raw: nothing recognized");
    let location = &told["locations"][0]["physicalLocation"]["artifactLocation"];
    assert_eq!(location["uri"], "noise.raw");
}

#[test]
fn of_very_many_targets_that_could_not_be_judged_the_rest_is_counted() {
    let text = sarif(&document(vec![broken(); 20_000]), &rules());
    assert!(text.len() < 6 << 20, "{} bytes", text.len());
    let log: Value = serde_json::from_str(&text).expect("valid JSON");
    let invocation = &log["runs"][0]["invocations"][0];
    let notifications = invocation["toolExecutionNotifications"].as_array().unwrap();
    let last = notifications.last().unwrap()["message"]["text"].as_str().unwrap();
    let more: usize = last.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(
        (notifications.len() - 1 + more, &log["runs"][0]["results"]),
        (20_000, &Value::Array(Vec::new()))
    );
}
